// The floor: rows from one response, of which only the visible ones are elements. J and K move, Enter opens.
const rowHeight = 36
const overscan = 10
const main = document.querySelector('main')
const drawn = new Map()
let rows = []
let current = -1
let grid
let body

function showList() {
  current = -1
  drawn.clear()
  main.innerHTML = '<div role="grid" tabindex="0"><div role="rowgroup"></div></div>'
  grid = main.firstChild
  body = grid.firstChild
  body.style.height = `${rows.length * rowHeight}px`
  grid.addEventListener('scroll', draw, { passive: true })
  draw()
}

function draw() {
  const first = Math.max(0, Math.floor(grid.scrollTop / rowHeight) - overscan)
  const end = Math.min(rows.length, Math.ceil((grid.scrollTop + grid.clientHeight) / rowHeight) + overscan)
  for (const [index, element] of drawn) {
    if (index >= first && index < end) continue
    element.remove()
    drawn.delete(index)
  }
  for (let index = first; index < end; index++) {
    const element = drawn.get(index) ?? append(index)
    element.toggleAttribute('aria-current', index === current)
  }
}

function append(index) {
  const { code, title, status, priority, updated_at } = rows[index]
  const element = document.createElement('div')
  element.id = `row-${index}`
  element.setAttribute('role', 'row')
  element.dataset.row = code
  element.style.transform = `translateY(${index * rowHeight}px)`
  for (const text of [priority, code, status, title, updated_at]) {
    const cell = document.createElement('span')
    if (text === title) cell.dataset.do = 'title'
    cell.textContent = text
    element.append(cell)
  }
  drawn.set(index, element)
  body.append(element)
  return element
}

function move(by) {
  current = Math.max(0, Math.min(rows.length - 1, current + by))
  const top = current * rowHeight
  if (grid.scrollTop > top) grid.scrollTop = top
  else if (grid.scrollTop < top + rowHeight - grid.clientHeight) grid.scrollTop = top + rowHeight - grid.clientHeight
  draw()
  grid.setAttribute('aria-activedescendant', `row-${current}`)
}

function open({ title, description }) {
  history.pushState(null, '')
  const heading = document.createElement('h1')
  heading.textContent = title
  const text = document.createElement('p')
  text.textContent = description
  main.replaceChildren(heading, text)
}

addEventListener('popstate', showList)
addEventListener('keydown', ({ key }) => {
  if (key === 'j') move(1)
  else if (key === 'k') move(-1)
  else if (key === 'Enter') open(rows[current])
})

fetch('/rows.json')
  .then((answer) => answer.json())
  .then((loaded) => {
    rows = loaded
    showList()
  })
