"""Lesson 05 as a learner meets it: divided by the number drawn, then rightly, and every explorer by keyboard."""

BY_NUMBER_DRAWN = """def noisy_sgd_step(
    weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch
):
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    total = (gradients / np.maximum(1, norms / clip_norm)).sum(axis=0)
    noisy = total + noise_multiplier * clip_norm * noise
    return weights - learning_rate * noisy / max(1, len(gradients))
"""
BY_EXPECTED_BATCH = BY_NUMBER_DRAWN.replace("max(1, len(gradients))", "expected_batch")
EXPLORERS = ("plots.clipping,", "plots.sampled,", "plots.accountants,", "plots.noise_needed,")


def test_the_wrong_divisor_then_the_right_one_then_every_explorer(lab):
    lesson = lab("05-dp-sgd")
    lesson.run_all()
    page = lesson.page
    lesson.wrong_then_right("5.4", BY_NUMBER_DRAWN, "number drawn", BY_EXPECTED_BATCH)

    for place in EXPLORERS:
        explorer = lesson.cell(f"widgets.explore(\n    {place}").locator(".dpcourse-explorer")
        explorer.scroll_into_view_if_needed()
        for handle in explorer.locator(".noUi-handle").all():
            before = explorer.locator("img").get_attribute("alt")
            handle.focus()
            page.keyboard.press("ArrowRight")
            page.wait_for_function(
                "([box, old]) => box.querySelector('img').alt !== old", arg=[explorer.element_handle(), before]
            )
        lesson.picture(f"dpsgd-{place.strip(',')}")
