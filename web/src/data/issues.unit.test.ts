import { expect, test, vi } from 'vitest'
import { fakeBrowser, issueNumber, later, page, Refusal } from '../../test/fake-browser.ts'

type Store = typeof import('./issues.ts')
const known = (store: Store) => ['ENG-1', 'ENG-2'].filter((code) => store.knownIssue(code))

/** A store that loads, with its first page under way. */
async function loadingStore() {
  const browser = fakeBrowser()
  const first = later<ReturnType<typeof page>>()
  browser.on('GET /issues', () => first.answer)
  const store = await import('./issues.ts')
  const loaded = store.loadIssues()
  await browser.settle()
  const load = async (...issues: ReturnType<typeof issueNumber>[]) => {
    browser.on('GET /issues', () => page(...issues))
    const done = store.loadIssues()
    await browser.settle()
    await done
  }
  return { browser, store, load, first: { ...first, loaded } }
}

test('keeps an issue removed that a page requested before the removal still lists', async () => {
  const { store, first } = await loadingStore()
  store.removeIssue('iss_1')
  first.give(page(issueNumber(1), issueNumber(2)))
  await first.loaded
  expect(known(store)).toEqual(['ENG-2'])
})

test('keeps an issue removed when the answer to an earlier edit arrives', async () => {
  const { store, first } = await loadingStore()
  first.give(page(issueNumber(1)))
  await first.loaded
  const edit = later<ReturnType<typeof issueNumber>>()
  const put = store.putAnswer(edit.answer)
  store.removeIssue('iss_1')
  edit.give(issueNumber(1, { updated_at: '2026-01-02T00:00:00.000Z' }))
  await put
  expect(store.knownIssue('ENG-1')).toBeUndefined()
})

test('shows an issue again that a request after the removal returns', async () => {
  const { browser, store, first, load } = await loadingStore()
  store.removeIssue('iss_1')
  store.removeIssue('iss_2')
  first.give(page())
  await first.loaded
  browser.on('GET /issues/iss_1', () => issueNumber(1))
  await store.refreshIssue('iss_1')
  expect(store.knownIssue('ENG-1')).toMatchObject({ id: 'iss_1' })
  await load(issueNumber(1), issueNumber(2))
  expect(known(store)).toEqual(['ENG-1', 'ENG-2'])
})

test('removes issues that a later load no longer lists', async () => {
  const { store, first, load } = await loadingStore()
  first.give(page(issueNumber(1), issueNumber(2)))
  await first.loaded
  await load(issueNumber(2))
  expect(known(store)).toEqual(['ENG-2'])
})

test('keeps an issue removed however many answers to earlier requests arrive', async () => {
  const { browser, store, first } = await loadingStore()
  first.give(page(issueNumber(1), issueNumber(2)))
  await first.loaded
  const edits = [later<ReturnType<typeof issueNumber>>(), later<ReturnType<typeof issueNumber>>()]
  const puts = edits.map(({ answer }) => store.putAnswer(answer))
  store.removeIssue('iss_1')
  for (const [index, { give }] of edits.entries()) {
    give(issueNumber(1, { updated_at: `2026-01-0${index + 2}T00:00:00.000Z` }))
    await puts[index]
    expect(known(store)).toEqual(['ENG-2'])
  }
  await browser.settle()
  expect(store.issueStore.get().issues.map(({ id }) => id)).toEqual(['iss_2'])
})

test('remembers the last thousand removals; one that is repeated counts as the newest', async () => {
  const { store, first } = await loadingStore()
  first.give(page(issueNumber(1), issueNumber(2)))
  await first.loaded
  const edits = [1, 2].map((number) => ({ number, ...later<ReturnType<typeof issueNumber>>() }))
  const puts = edits.map(({ answer }) => store.putAnswer(answer))
  store.removeIssue('iss_1')
  store.removeIssue('iss_2')
  for (let number = 3; number <= 1000; number++) store.removeIssue(`iss_${number}`)
  store.removeIssue('iss_1')
  store.removeIssue('iss_1001')
  for (const { number, give } of edits) give(issueNumber(number))
  await Promise.all(puts)
  // A thousand removals came after that of the second issue, so it is forgotten.
  expect(known(store)).toEqual(['ENG-2'])
})

test('renders once for all changes of a task, with everything they said', async () => {
  const { browser, store, first } = await loadingStore()
  expect(store.areIssuesComplete()).toBe(false)
  first.give(page(issueNumber(1)))
  await first.loaded
  await browser.settle()
  expect(store.issueStore.get()).toEqual({ issues: [issueNumber(1)], complete: true, limited: false, error: null })
  const rendered: number[] = []
  store.issueStore.subscribe(() => rendered.push(store.issueStore.get().issues.length))
  for (const number of [2, 3, 4]) store.putIssue(issueNumber(number))
  store.removeIssue('iss_3')
  expect(rendered).toEqual([])
  await browser.settle()
  expect(rendered).toEqual([3])
  expect(store.issueStore.get().issues.map(({ code }) => code)).toEqual(['ENG-1', 'ENG-2', 'ENG-4'])
})

/** A store that has loaded issue 1, and the titles that each render showed since. */
async function renderedTitles() {
  const { browser, store, first } = await loadingStore()
  first.give(page(issueNumber(1)))
  await first.loaded
  await browser.settle()
  const rendered: string[] = []
  store.issueStore.subscribe(() =>
    rendered.push(
      store.issueStore
        .get()
        .issues.map(({ title }) => title)
        .join(', '),
    ),
  )
  let changes = 0
  const changeElsewhere = async (title: string) => {
    const updated_at = `2026-01-02T00:00:00.${String(++changes).padStart(3, '0')}Z`
    browser.on('GET /issues/iss_1', () => issueNumber(1, { title, updated_at }))
    await store.refreshIssue('iss_1', store.publishSoon)
  }
  return { store, rendered, changeElsewhere }
}

test('shows a change made elsewhere at once, and those soon after it together 400 ms later', async () => {
  const { rendered, changeElsewhere } = await renderedTitles()
  await changeElsewhere('one')
  expect(rendered).toEqual(['one'])
  await changeElsewhere('two')
  await vi.advanceTimersByTimeAsync(200)
  await changeElsewhere('three')
  await vi.advanceTimersByTimeAsync(199)
  expect(rendered).toEqual(['one'])
  await vi.advanceTimersByTimeAsync(1)
  expect(rendered).toEqual(['one', 'three'])
  await vi.advanceTimersByTimeAsync(1000)
  expect(rendered).toEqual(['one', 'three'])
})

test("shows the user's own change at once, with those made elsewhere that wait", async () => {
  const { store, rendered, changeElsewhere } = await renderedTitles()
  await changeElsewhere('one')
  await changeElsewhere('two')
  store.changeLocally('iss_1', { title: 'own' })
  await vi.advanceTimersByTimeAsync(0)
  expect(rendered).toEqual(['one', 'own'])
  await vi.advanceTimersByTimeAsync(1000)
  expect(rendered).toEqual(['one', 'own'])
})

test('shows the first page at once, and later pages at most every 400 ms', async () => {
  const { browser, store, first } = await loadingStore()
  const rendered: number[] = []
  store.issueStore.subscribe(() => rendered.push(store.issueStore.get().issues.length))
  const pages = [2, 3, 4].map((number) => ({ number, ...later<object>() }))
  browser.on('GET /issues', (query) => pages.find(({ number }) => String(number) === query.get('cursor'))?.answer)
  first.give({ data: [issueNumber(1)], next_cursor: '2' as never })
  await vi.advanceTimersByTimeAsync(0)
  expect(rendered).toEqual([1])
  pages[0]?.give({ data: [issueNumber(2)], next_cursor: '3' })
  pages[1]?.give({ data: [issueNumber(3)], next_cursor: '4' })
  await vi.advanceTimersByTimeAsync(399)
  expect(rendered).toEqual([1])
  await vi.advanceTimersByTimeAsync(1)
  expect(rendered).toEqual([1, 3])
  pages[2]?.give({ data: [issueNumber(4)], next_cursor: null })
  await vi.advanceTimersByTimeAsync(0)
  expect(rendered).toEqual([1, 3, 4])
})

test('stops loading at 20,000 issues, and says that there are more', async () => {
  const { browser, store, first, load } = await loadingStore()
  let last = 0
  const nextPage = () => ({ data: Array.from({ length: 5000 }, () => issueNumber(++last)), next_cursor: 'more' })
  browser.on('GET /issues', nextPage)
  first.give(nextPage() as never)
  await browser.settle()
  expect(store.issueStore.get()).toMatchObject({ issues: { length: 20_000 }, complete: true, limited: true })
  await load(issueNumber(1))
  expect(store.issueStore.get()).toMatchObject({ issues: { length: 1 }, limited: false })
})

test('a failed load keeps what is known, and a later one clears the error', async () => {
  const { browser, store, first, load } = await loadingStore()
  first.give(page(issueNumber(1)))
  await first.loaded
  browser.on('GET /issues', () => new Refusal(400, 'VALIDATION_ERROR'))
  const failed = store.loadIssues()
  await browser.settle()
  await failed
  expect(store.issueStore.get()).toMatchObject({ complete: true, error: { code: 'VALIDATION_ERROR' } })
  expect(known(store)).toEqual(['ENG-1'])
  await load(issueNumber(1), issueNumber(2))
  expect(store.issueStore.get()).toMatchObject({ complete: true, error: null })
})
