"""How a quiz is laid out in a browser."""

FAULTS = """quiz => {
  const faults = [], page = quiz.closest('.jp-OutputArea-output').getBoundingClientRect()
  const within = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1
    && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1
  const options = [...quiz.querySelectorAll('.widget-radio-box label')]
  let above = page.top
  for (const row of quiz.querySelectorAll('strong, .widget-radio-box label')) {
    const box = row.getBoundingClientRect(), text = document.createRange()
    text.selectNodeContents(row)
    const complain = what => faults.push(`${what}: ${row.textContent}`)
    if (!box.height || box.top < above - 1) complain('overlaps the row above')
    if (![...text.getClientRects()].every(line => within(line, box))) complain('is larger than its row')
    if (!within(box, page)) complain('is cut off')
    above = box.bottom
  }
  for (const option of options) {
    const button = option.querySelector('input')
    button.scrollIntoView({block: 'center'})
    const box = button.getBoundingClientRect()
    const seen = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2)
    if (seen !== button || box.width < 10 || !within(box, option.getBoundingClientRect()))
      faults.push(`has no button: ${option.textContent}`)
  }
  return faults
}"""
"""Rows from top to bottom, first as they lie, then the button of each option as the mouse finds it."""


def faults_of_quiz(quiz) -> list[str]:
    """What is wrong with how a quiz in a browser is laid out: a Playwright locator of it."""
    return quiz.evaluate(FAULTS)
