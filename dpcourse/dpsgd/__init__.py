"""Deep learning with differential privacy on PyTorch: `from dpcourse import dpsgd`."""

from dpcourse.dpsgd.data import Data, digits, fashion_mnist, mnist
from dpcourse.dpsgd.models import logistic, mlp, paper_cnn, tanh_cnn

__all__ = ["Data", "digits", "fashion_mnist", "logistic", "mlp", "mnist", "paper_cnn", "tanh_cnn"]
