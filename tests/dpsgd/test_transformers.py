"""Models as HuggingFace has them, of random weights: each example's gradient as the loop finds it, and trained by fit."""

import pytest
import torch
from torch import nn

from dpcourse import dpsgd

pytestmark = [
    pytest.mark.weekly("transformers takes ten seconds to import"),
    pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning"),  # peft asks transformers for it
]
cross_entropy = nn.CrossEntropyLoss(reduction="none")
SMALL = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}


def texts(n):
    tokens = torch.randint(3, 50, (n, 12))
    return {"input_ids": tokens, "attention_mask": (torch.arange(12) < torch.randint(6, 13, (n, 1))).long()}


def images(n):
    return {"pixel_values": torch.randn(n, 1, 16, 16)}


def bert(transformers):
    config = transformers.BertConfig(vocab_size=50, max_position_embeddings=16, **SMALL)
    return transformers.BertForSequenceClassification(config)


def distilbert(transformers):
    config = transformers.DistilBertConfig(
        vocab_size=50, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=16
    )
    return transformers.DistilBertForSequenceClassification(config)


def gpt2(transformers):
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=16, **special)
    return transformers.GPT2ForSequenceClassification(config)


def vit(transformers):
    config = transformers.ViTConfig(image_size=16, patch_size=4, num_channels=1, **SMALL)
    return transformers.ViTForImageClassification(config)


def lora(transformers):
    """BERT with two thin factors beside each of its queries and values, and its head: nothing else is trained."""
    import peft

    config = peft.LoraConfig(r=2, target_modules=["query", "value"], lora_dropout=0.0, task_type="SEQ_CLS")
    model = peft.get_peft_model(bert(transformers), config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:  # which begins as 0, and then lora_A has no gradient
                parameter.normal_()
    return model


MODELS = {
    "BERT": (bert, texts),
    "DistilBERT": (distilbert, texts),
    "GPT-2": (gpt2, texts),
    "ViT": (vit, images),
    "LoRA": (lora, texts),
}


@pytest.fixture(params=MODELS)
def model_and_inputs(request):
    make, inputs = MODELS[request.param]
    torch.manual_seed(0)
    model = dpsgd.Picked(make(pytest.importorskip("transformers")), lambda outputs: outputs.logits)
    return model, inputs(60), torch.randint(2, (60,))


@pytest.mark.parametrize("examples", [2, 7, 12])
def test_the_clipped_sum_is_as_by_the_loop(model_and_inputs, examples):
    model, inputs, targets = model_and_inputs
    model.double().eval()
    few = {
        name: part[:examples].double() if part.is_floating_point() else part[:examples] for name, part in inputs.items()
    }
    fast, slow = (
        dpsgd.clipped_sum(model, cross_entropy, few, targets[:examples], 0.3, by) for by in ("book-keeping", "loop")
    )
    torch.testing.assert_close(fast.sums, slow.sums, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(fast.norms, slow.norms, rtol=1e-6, atol=1e-9)


def test_fit_trains_within_epsilon_3(model_and_inputs):
    model, inputs, targets = model_and_inputs
    data = dpsgd.Data(inputs, targets)
    plan = dpsgd.plan(3.0, 1e-4, len(data), batch=15, epochs=2)
    optimizer = dpsgd.NoisyAdam(model.parameters(), lr=1e-3, **plan.settings)
    run = dpsgd.fit(model, optimizer, plan.ledger(), data, plan.steps, device="cpu", show=False)
    assert run.epsilon <= 3
    assert dpsgd.inspect(run).ok
