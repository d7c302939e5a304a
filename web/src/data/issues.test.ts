import { expect, test } from 'vitest'
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
  expect(store.issueStore.get()).toEqual({ issues: [issueNumber(1)], complete: true, error: null })
  const rendered: number[] = []
  store.issueStore.subscribe(() => rendered.push(store.issueStore.get().issues.length))
  for (const number of [2, 3, 4]) store.putIssue(issueNumber(number))
  store.removeIssue('iss_3')
  expect(rendered).toEqual([])
  await browser.settle()
  expect(rendered).toEqual([3])
  expect(store.issueStore.get().issues.map(({ code }) => code)).toEqual(['ENG-1', 'ENG-2', 'ENG-4'])
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
