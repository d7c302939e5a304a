import { expect, test } from 'vitest'
import { fakeBrowser, issueNumber, later, page } from '../../test/fake-browser.ts'

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
