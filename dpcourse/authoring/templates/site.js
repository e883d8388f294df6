// The switch between light and dark, explorers that move, what a term means, and the search; without this script a page
// is read as it is.
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
  prepareContents(document.querySelector('.contents details'))
  document.querySelectorAll('.moving').forEach(prepareExplorer)
  prepareTerms(document.querySelectorAll('a.term'))
})

// On a wide window the lessons and sections stand beside the text; else they are behind a button above it.
function prepareContents(contents) {
  if (!contents) return
  const wide = matchMedia('(min-width: 68rem)')
  const fit = () => { contents.open = wide.matches }
  wide.addEventListener('change', fit)
  contents.addEventListener('click', event => { if (!wide.matches && event.target.closest('a')) contents.open = false })
  fit()
}

// ---- explorers: a picture for each place of their sliders

const STEP = 600 // milliseconds from one picture to the next of an explorer that plays
let dpcoursePictures // what a script with pictures sets

function prepareExplorer(explorer) {
  if (!('DecompressionStream' in window)) return
  const image = explorer.querySelector('img'), sliders = [...explorer.querySelectorAll('input')]
  let pictures
  const load = () => pictures ??= loaded(explorer.dataset.pictures).catch(() => { pictures = undefined })
  const show = slider => {
    const shown = JSON.parse(slider.dataset.shown)[slider.value]
    slider.setAttribute('aria-valuetext', slider.nextElementSibling.textContent = shown)
  }
  const move = async moved => {
    show(moved)
    const picture = await load()
    if (!picture) return
    const here = () => picture(sliders.map(slider => slider.value))
    for (const other of here() ? [] : sliders.filter(slider => slider !== moved)) { // they go back to where they stood
      other.value = other.defaultValue
      show(other)
    }
    Object.assign(image, here())
  }
  for (const slider of sliders) {
    for (const begin of ['focus', 'pointerenter']) slider.addEventListener(begin, load, {once: true})
    slider.addEventListener('input', () => move(slider))
  }
  explorer.querySelectorAll('button').forEach(button => preparePlay(button, button.parentElement.querySelector('input')))
  explorer.querySelector('.controls').hidden = false
  const note = explorer.nextElementSibling
  if (note?.matches('.sliders')) note.hidden = true // what the sliders of the notebook do
}

function loaded(address) {
  return new Promise((done, failed) => document.head.append(Object.assign(document.createElement('script'), {
    src: address, onload: () => done(unpacked(dpcoursePictures)), onerror: failed,
  })))
}

// Places of the sliders -> the picture there, if there is one.
async function unpacked(packed) {
  const stream = new Blob([Uint8Array.from(atob(packed), letter => letter.charCodeAt())]).stream()
  const [pieces, drawn] = await new Response(stream.pipeThrough(new DecompressionStream('deflate'))).json()
  return places => {
    const [alt, numbers] = drawn[places] ?? []
    return alt && {alt, src: 'data:image/svg+xml,' + encodeURIComponent(numbers.map(number => pieces[number]).join(''))}
  }
}

// A button that moves a slider to its end, and from there from its beginning; one step where less motion is wanted.
function preparePlay(button, slider) {
  let timer
  const isAtEnd = () => slider.value === slider.max
  const stop = () => {
    timer = clearInterval(timer)
    button.textContent = button.dataset.play
  }
  const step = () => {
    slider.value = isAtEnd() ? 0 : Number(slider.value) + 1
    slider.dispatchEvent(new Event('input'))
    if (isAtEnd()) stop()
  }
  button.addEventListener('click', () => {
    if (timer) return stop()
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) {
      timer = setInterval(step, STEP)
      button.textContent = button.dataset.pause
    }
    step()
  })
}

// ---- terms: what one means stands beside it while it is pointed at, has the focus, or is touched

function prepareTerms(terms) {
  const note = Object.assign(document.createElement('div'), {className: 'meaning', hidden: true})
  let shown, leaving
  const show = term => {
    clearTimeout(leaving)
    note.replaceChildren(...document.getElementById(term.getAttribute('aria-describedby')).cloneNode(true).childNodes)
    note.hidden = false
    shown = term
    const {left, top, bottom} = term.getClientRects()[0], {clientWidth, clientHeight} = document.documentElement
    note.style.left = `${scrollX + Math.max(8, Math.min(left, clientWidth - note.offsetWidth - 8))}px`
    note.style.top = `${scrollY + (bottom + note.offsetHeight + 8 < clientHeight ? bottom + 4 : top - note.offsetHeight - 4)}px`
  }
  const hide = () => {
    note.hidden = true
    shown = undefined
  }
  const leave = () => { leaving = setTimeout(hide, 200) }
  for (const term of terms) {
    term.addEventListener('pointerenter', event => { if (event.pointerType !== 'touch') show(term) })
    term.addEventListener('pointerleave', event => { if (event.pointerType !== 'touch') leave() })
    term.addEventListener('focus', () => { if (term.matches(':focus-visible')) show(term) })
    term.addEventListener('blur', hide)
    term.addEventListener('click', event => {
      if (event.pointerType !== 'touch' || shown === term) return
      event.preventDefault() // a second touch leads to the glossary
      show(term)
    })
  }
  note.addEventListener('pointerenter', () => clearTimeout(leaving))
  note.addEventListener('pointerleave', leave)
  addEventListener('keydown', event => { if (event.key === 'Escape') hide() })
  addEventListener('pointerdown', event => { if (!event.target.closest?.('.term, .meaning')) hide() })
  document.querySelector('main').append(note)
}

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
