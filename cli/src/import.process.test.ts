import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestApp, test, verifies } from '../../server/test/harness.ts'
import { csv, issuesOf, linearCsv, linearRow } from '../../server/test/imports.ts'
import { Shell, temporary } from '../test/baton.ts'

/** Runs a command while a worker reads and runs imports. */
async function withWorker<T>(app: TestApp, command: Promise<T>): Promise<T> {
  let ended = false
  const ending = command.finally(() => {
    ended = true
  })
  while (!ended) {
    await app.workOnImports()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return ending
}

test('`baton import` previews and imports a file', verifies('import.cli'), async ({ app }) => {
  const { owner } = await app.workspace()
  await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const shell = await Shell.of(owner, app.rootUrl)
  const dir = await temporary()
  const file = join(dir, 'linear.csv')
  await writeFile(file, linearCsv([linearRow({ Title: 'One' }), linearRow({ Title: 'Two', Status: 'Odd' })]))
  const run = (...args: string[]) => withWorker(app, shell.run(['import', ...args]))

  const before = await app.everything()
  const preview = await run(file, '--source', 'linear', '--dry-run', '--json')
  expect(preview.code).toBe(0)
  const shown = JSON.parse(preview.stdout)
  expect(shown).toMatchObject({
    state: 'ready',
    counts: { issues: { created: 2 } },
    problem_count: 1,
    problems: [{ field: 'status', value: 'Odd' }],
  })
  const kept = (dump: string) => JSON.parse(dump).filter(({ name }: { name: string }) => name !== 'audit_entries')
  expect(kept(await app.everything())).toEqual(kept(before))

  const imported = await run(file, '--source', 'linear')
  expect(imported).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/The import is done\.[\s\S]*issues +2 +0 +0 +0/),
  })
  expect(imported.stderr).toMatch(/reading|issues|teams/)
  expect((await issuesOf(owner)).length).toBe(2)

  // Without a team column the team has to be named.
  const plain = join(dir, 'plain.csv')
  await writeFile(plain, csv(['Title'], ['Three']))
  expect(await run(plain)).toMatchObject({ code: 1, stderr: expect.stringContaining('team') })
  expect(await run(plain, '--team', 'eng')).toMatchObject({ code: 0 })
  expect((await issuesOf(owner))[0]).toMatchObject({ title: 'Three', code: 'ENG-1' })

  await writeFile(plain, '{"not": "an issue"')
  expect(await run(join(dir, 'missing.csv'))).toMatchObject({ code: 1, stderr: expect.stringContaining('no file') })
  expect(await run(plain, '--source', 'trello')).toMatchObject({ code: 2 })
})

test('recognises the exports of Jira and Linear', verifies('import.cli'), async ({ app }) => {
  const { owner } = await app.workspace()
  const shell = await Shell.of(owner, app.rootUrl)
  const dir = await temporary()
  const run = (...args: string[]) => withWorker(app, shell.run(['import', ...args]))
  const jira = join(dir, 'jira.csv')
  const header = ['Summary', 'Issue key', 'Issue id', 'Project name', 'Status', 'Comment']
  await writeFile(
    jira,
    `\ufeff${csv(header, ['Oil it', 'DOOR-7', '10000', 'Door', 'Blocked', '1/Mar/24 9:00 AM;a1;Now']).replaceAll(',', ';')}`,
  )
  const read = await run(jira, '--dry-run', '--json')
  expect(read.stderr).toContain('as an export of Jira; --source csv reads it as a plain CSV')
  expect(JSON.parse(read.stdout)).toMatchObject({
    source: 'jira',
    counts: { issues: { created: 1 }, comments: { created: 1 } },
  })
  const linear = join(dir, 'linear.csv')
  await writeFile(linear, linearCsv([linearRow({ Status: 'Odd' }), linearRow({ Status: 'Odd' })]))
  const other = await run(linear, '--dry-run')
  expect(other.stderr).toContain('as an export of Linear')
  // The same problem of both rows is one line.
  expect(other.stdout).toContain('  rows 2, 3: status Odd is not mapped')
  // A choice is kept, and its problem said.
  const plain = JSON.parse((await run(jira, '--source', 'csv', '--dry-run', '--json')).stdout)
  expect(plain).toMatchObject({
    source: 'csv',
    problems: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining('export of Jira') })]),
  })
})

test('takes a mapping from a file, and keeps codes', verifies('import.cli', 'import.keep-codes'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const shell = await Shell.of(owner, app.rootUrl)
  const dir = await temporary()
  const run = (...args: string[]) => withWorker(app, shell.run(['import', ...args]))
  const [file, mapping] = [join(dir, 'linear.csv'), join(dir, 'mapping.json')]
  await writeFile(file, linearCsv([linearRow({ ID: 'WEB-41', Status: 'Odd' })]))
  await writeFile(mapping, JSON.stringify({ teams: { Web: team.id }, statuses: { Odd: 'qa' } }))
  expect(await run(file, '--mapping', mapping, '--keep-codes')).toMatchObject({ code: 0 })
  expect(await issuesOf(owner)).toMatchObject([{ code: 'ENG-41', status: 'qa' }])

  const before = await issuesOf(owner)
  await writeFile(mapping, '{"statuses": {"Odd": "fried"}}')
  expect(await run(file, '--mapping', mapping)).toMatchObject({ code: 1, stderr: expect.stringContaining('statuses') })
  await writeFile(mapping, '[1')
  expect(await run(file, '--mapping', mapping)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not a JSON object'),
  })
  expect(await run(file, '--mapping', join(dir, 'none.json'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no file'),
  })
  expect(await issuesOf(owner)).toEqual(before)
  expect((await owner.get('/imports')).body.data).toHaveLength(1)
})
