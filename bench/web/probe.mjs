/** Runs in the page before its own scripts. Measures from the browser's time of an input to the end of its frame. */
export function probe() {
  /** Runs `then` when the browser has painted the changes made so far. */
  const afterPaint = (then) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => then(performance.now())
      port2.postMessage(null)
    })
  const currentId = () => document.querySelector('[role="grid"]')?.getAttribute('aria-activedescendant') ?? null

  const bench = { moves: [], opened: null, usableAt: null, hasRows: false }
  window.bench = bench
  /** Times of key presses whose row is not painted yet. */
  let pressed = []
  let before = null
  let opening = null

  // On the window and captured, so it runs before any listener of the page.
  addEventListener(
    'keydown',
    ({ key, timeStamp }) => {
      before = currentId()
      if (key === 'j' || key === 'k') pressed.push(timeStamp)
      if (key !== 'Enter') return
      const title = document.getElementById(before)?.querySelector('[data-do="title"]')?.textContent
      opening = { title, timeStamp }
    },
    true,
  )
  new MutationObserver(() => {
    if (!bench.hasRows && document.querySelector('[data-row]')) {
      afterPaint(() => {
        bench.hasRows = true
      })
    }
    if (pressed.length > 0 && currentId() !== before) {
      const times = pressed
      pressed = []
      afterPaint((now) => {
        bench.usableAt ??= now
        bench.moves.push(...times.map((time) => now - time))
      })
    }
    if (opening && document.querySelector('h1')?.textContent.includes(opening.title)) {
      const { timeStamp } = opening
      opening = null
      afterPaint((now) => {
        bench.opened = now - timeStamp
      })
    }
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['aria-activedescendant'] })

  /** Returns a function that stops, and returns the durations of all frames since. */
  bench.recordFrames = () => {
    const frames = []
    let last = performance.now()
    let request = requestAnimationFrame(function record(now) {
      frames.push(now - last)
      last = now
      request = requestAnimationFrame(record)
    })
    bench.stopFrames = () => {
      cancelAnimationFrame(request)
      return frames
    }
  }
}
