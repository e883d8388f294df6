// The switch between light and dark, and the search; without this script a page is read as it is.
'use strict'

const chosen = {
  get() { try { return localStorage.getItem('theme') } catch { return null } },
  set(theme) { try { localStorage.setItem('theme', theme) } catch { /* a browser that keeps nothing */ } },
}

function show(theme) {
  document.documentElement.dataset.theme = theme
  for (const source of document.querySelectorAll('source[media*=prefers-color-scheme]')) { // pictures of two themes
    source.dataset.media ??= source.media
    source.media = source.dataset.media.includes(theme) ? 'all' : 'not all'
  }
}

if (chosen.get()) document.documentElement.dataset.theme = chosen.get()

addEventListener('DOMContentLoaded', () => {
  const [find, turn] = document.querySelectorAll('header button')
  const isDark = () => (chosen.get() ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'
  const name = () => { turn.textContent = isDark() ? turn.dataset.light : turn.dataset.dark }
  if (chosen.get()) show(chosen.get())
  name()
  turn.addEventListener('click', () => {
    chosen.set(isDark() ? 'light' : 'dark')
    show(chosen.get())
    name()
  })
  turn.hidden = find.hidden = false
  prepareSearch(find)
  const contents = document.querySelector('.contents details')
  if (contents && innerWidth < 1088) contents.open = false // on a telephone it stands above the text
})

// ---- explorers of one slider: each of its places has a picture

addEventListener('DOMContentLoaded', () => {
  for (const moving of document.querySelectorAll('.moving')) {
    const frames = JSON.parse(moving.dataset.frames)
    const [label, control, says, image] = ['label', 'input', 'output', 'img'].map(name => moving.querySelector(name))
    control.addEventListener('input', () => {
      const [address, alt, value] = frames[control.value]
      Object.assign(image, {src: address, alt})
      control.setAttribute('aria-valuetext', says.textContent = value)
    })
    for (const begin of ['focus', 'pointerenter'])
      control.addEventListener(begin, () => { for (const [address] of frames) new Image().src = address }, {once: true})
    label.hidden = false
    moving.nextElementSibling.hidden = true // what the sliders of the notebook do
  }
})

// ---- search

const GREEK = Object.fromEntries('alpha α beta β gamma γ delta δ epsilon ε kappa κ lambda λ mu μ pi π sigma σ tau τ phi Φ'
  .split(' ').reduce((pairs, word, i, all) => i % 2 ? [...pairs, [all[i - 1], word.toLowerCase()]] : pairs, []))
const MOST = 40
let places

// search.js calls this: a script can be loaded from a folder, where JSON cannot.
function dpcourseSearch(found) {
  places = found.map(([page, title, anchor, heading, text]) => ({page, title, anchor, heading, text, low: plain(`${heading} ${text}`)}))
  document.querySelector('dialog input').dispatchEvent(new Event('input'))
}

function plain(text) {
  return text.normalize('NFKC').toLowerCase().replaceAll('ϵ', 'ε').replaceAll('ϕ', 'φ')
}

function prepareSearch(button) {
  const dialog = document.querySelector('dialog')
  const [field, status, list] = ['input', '[role=status]', 'ol'].map(name => dialog.querySelector(name))
  const open = () => {
    if (!places && !document.querySelector('script[src="search.js"]'))
      document.head.append(Object.assign(document.createElement('script'), {src: 'search.js'}))
    if (!dialog.open) dialog.showModal()
    field.select()
  }
  button.addEventListener('click', open)
  addEventListener('keydown', event => {
    if (event.key !== '/' || dialog.open || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    open()
  })
  dialog.querySelector('button').addEventListener('click', () => dialog.close())
  dialog.querySelector('form').addEventListener('submit', event => {
    event.preventDefault()
    list.querySelector('a')?.click()
  })
  list.addEventListener('click', event => { if (event.target.closest('a')) dialog.close() })
  field.addEventListener('input', () => {
    const words = plain(field.value).split(/\s+/).filter(Boolean)
    const found = words.length && places ? search(words) : []
    const says = found.length > MOST ? dialog.dataset.more : dialog.dataset.found
    status.textContent = words.length && places ? says.replace('{count}', found.length).replace('{most}', MOST) : ''
    list.replaceChildren(...found.slice(0, MOST).map(place => entry(place, words)))
  })
}

// The places that hold every word, or its Greek letter; first those whose heading says it.
function search(words) {
  const forms = words.map(word => GREEK[word] ? [new RegExp(`\\b${word}\\b`), GREEK[word]] : [word]) // mu is not in much
  const weight = ({heading, low}) => {
    const head = plain(heading)
    let sum = head === words.join(' ') ? 200 : head.includes(words.join(' ')) ? 40 : 0
    for (const form of forms) {
      const counts = form.map(word => low.split(word).length - 1)
      if (!counts.some(Boolean)) return 0
      sum += Math.min(5, Math.max(...counts)) + (form.some(word => head === word) ? 60 : form.some(word => head.split(word).length > 1) ? 20 : 0)
    }
    return sum
  }
  return places.map(place => [weight(place), place]).filter(([weight]) => weight).sort((a, b) => b[0] - a[0]).map(([, place]) => place)
}

function entry({page, title, anchor, heading, text}, words) {
  const item = document.createElement('li')
  const link = Object.assign(document.createElement('a'), {href: `${page}.html#${encodeURIComponent(anchor)}`, textContent: heading})
  const low = text.toLowerCase()
  const at = Math.max(0, Math.min(...words.flatMap(word => [word, GREEK[word]]).map(word => word ? low.indexOf(word) : -1).filter(at => at >= 0), low.length) - 50)
  const part = at < low.length ? (at ? '… ' : '') + text.slice(at, at + 150) + (at + 150 < text.length ? ' …' : '') : text.slice(0, 150)
  const said = Object.assign(document.createElement('p'), {textContent: part})
  item.append(link, Object.assign(document.createElement('small'), {textContent: title === heading ? '' : title}), said)
  return item
}
