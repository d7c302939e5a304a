import { QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { fakeBrowser, issueNumber, page } from '../../test/fake-browser.ts'

/** An open app that shows the projects and has loaded these issues. */
async function openApp(...issues: ReturnType<typeof issueNumber>[]) {
  const browser = fakeBrowser()
  browser.on('GET /issues', () => page(...issues))
  browser.on('GET /projects', () => page())
  browser.on('GET /projects/prj_1', () => ({ id: 'prj_1' }))
  const { queries } = await import('./api.ts')
  const { projectQuery, projectsQuery } = await import('./projects.ts')
  const store = await import('./issues.ts')
  // Timers do not wait for it to load.
  await import('./live-stream.ts')
  const { startLiveUpdates } = await import('./updates.ts')
  startLiveUpdates()
  await browser.settle()
  const loaded = store.loadIssues()
  new QueryObserver(queries, projectsQuery).subscribe(() => {})
  new QueryObserver(queries, projectQuery('prj_1')).subscribe(() => {})
  await browser.settle()
  await loaded
  const projectReads = async (work: () => Promise<unknown>) => {
    const before = browser.count('GET /projects')
    await work()
    await browser.settle()
    return browser.count('GET /projects') - before
  }
  return { browser, store, projectReads }
}

const inProject = { project_id: 'prj_1' }
const newer = { updated_at: '2026-01-02T00:00:00.000Z' }

test.each([
  ['a new title', inProject, { ...inProject, title: 'New' }, 0],
  ['another status that is not done', inProject, { ...inProject, status: 'qa' as const }, 0],
  ['done outside a project', {}, { status: 'done' as const }, 0],
  ['done in a project', inProject, { ...inProject, status: 'done' as const }, 1],
  ['added to a project', {}, inProject, 1],
  ['removed from a project', inProject, {}, 1],
])(
  'a hint about an issue reads projects again only if their progress can change: %s',
  async (_, before, after, reads) => {
    const { browser, projectReads } = await openApp(issueNumber(1, before))
    browser.on('GET /issues/iss_1', () => issueNumber(1, { ...after, ...newer }))
    expect(await projectReads(() => browser.hint('Issue', 'update', 'iss_1'))).toBe(reads)
  },
)

test.each([
  ['with a project', inProject, 1],
  ['without a project', {}, 0],
])('creating and deleting an issue %s', async (_, fields, reads) => {
  const { browser, store, projectReads } = await openApp()
  browser.on('GET /issues/iss_2', () => issueNumber(2, fields))
  expect(await projectReads(() => browser.hint('Issue', 'create', 'iss_2'))).toBe(reads)
  expect(store.knownIssue('ENG-2')).toBeDefined()
  expect(await projectReads(() => browser.hint('Issue', 'remove', 'iss_2'))).toBe(reads)
  expect(store.knownIssue('ENG-2')).toBeUndefined()
})

test('reads projects again after an edit of this tab, whose hint finds nothing new', async () => {
  const { browser, store, projectReads } = await openApp(issueNumber(1, inProject))
  const done = issueNumber(1, { ...inProject, ...newer, status: 'done' })
  browser.on('GET /issues/iss_1', () => done)
  const edit = async () => {
    await store.putAnswer(Promise.resolve(done))
    await browser.hint('Issue', 'update', 'iss_1')
  }
  expect(await projectReads(edit)).toBe(1)
})

test('does not read a deleted project again when its issues lose it', async () => {
  const { browser, store } = await openApp(issueNumber(1, inProject))
  browser.on('GET /issues', () => page(issueNumber(1, newer)))
  const before = browser.count('GET /projects/prj_1')
  await browser.hint('Project', 'remove', 'prj_1')
  await browser.settle()
  expect(store.knownIssue('ENG-1')).toMatchObject({ project_id: null })
  expect(browser.count('GET /projects/prj_1')).toBe(before)
})

test('reads projects again when an unknown issue was deleted', async () => {
  const { browser, projectReads } = await openApp()
  expect(await projectReads(() => browser.hint('Issue', 'remove', 'iss_9'))).toBe(1)
})

test('shows the progress of an import whose hints come faster than its reads end', async () => {
  const { browser } = await openApp()
  const { queries } = await import('./api.ts')
  const { importQuery } = await import('./imports.ts')
  let done = 0
  browser.on('GET /imports/imp_1', async () => {
    const read = { id: 'imp_1', done }
    await new Promise((resolve) => setTimeout(resolve, 100))
    return read
  })
  const seen = new Set<number>()
  const observer = new QueryObserver(queries, importQuery('imp_1'))
  observer.subscribe(({ data }) => data && seen.add(data.done))
  await browser.settle()
  for (done = 1; done <= 50; done++) await browser.hint('Import', 'update', 'imp_1')
  expect(seen.size).toBeGreaterThan(3)
  await browser.settle()
  // What the last hint told of.
  expect(Math.max(...seen)).toBeGreaterThanOrEqual(50)
})
