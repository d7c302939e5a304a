// The served documentation: the theme chosen in the web app, search while typing, and copy buttons. Pages work without.

// Before the page is drawn; web/src/ui/theme.ts stores the choice.
const theme = localStorage.getItem('baton.theme')
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme

addEventListener('DOMContentLoaded', () => {
  for (const block of document.querySelectorAll('.code')) block.append(copyButton(block.querySelector('pre')))
  const form = document.querySelector('form[role="search"]')
  if (form) searchWhileTyping(form)
})

function copyButton(pre) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    if (!(await copy(pre))) return
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  return button
}

/** Over plain http, browsers have no clipboard but on loopback. The text stays selected if it cannot be copied. */
async function copy(pre) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(pre.textContent.trimEnd())
    return true
  }
  getSelection().selectAllChildren(pre)
  if (!document.execCommand('copy')) return false
  getSelection().removeAllRanges()
  return true
}

function searchWhileTyping(form) {
  const input = form.querySelector('input')
  const found = form.querySelector('.found')
  let timer
  let asked = 0

  const close = () => {
    found.hidden = true
  }

  // The results are part of the search page, which has escaped them.
  async function show() {
    const query = input.value.trim()
    const mine = ++asked
    if (query === '') return close()
    const response = await fetch(`/docs/search?q=${encodeURIComponent(query)}`)
    if (!response.ok || mine !== asked) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const parts = ['#count', '#results'].map((part) => page.querySelector(part)).filter(Boolean)
    for (const part of parts) part.removeAttribute('id')
    parts[0]?.setAttribute('role', 'status')
    found.replaceChildren(...parts)
    found.hidden = false
  }

  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => show().catch(close), 120)
  })

  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !found.hidden) {
      // Browsers would clear the field.
      event.preventDefault()
      close()
      input.focus()
      return
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    const stops = [input, ...(found.hidden ? [] : found.querySelectorAll('a'))]
    const next = stops[stops.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)]
    if (!next) return
    event.preventDefault()
    next.focus()
  })

  addEventListener('click', (event) => {
    if (!form.contains(event.target)) close()
  })

  form.addEventListener('focusout', (event) => {
    if (event.relatedTarget && !form.contains(event.relatedTarget)) close()
  })

  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.closest('input, textarea, select')) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}
