import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, tabTo, test, verifies } from './baton.ts'
import { changedSession, changesOf, expectAtTop, fileIn, fileOf, omittedFile, viewer } from './changes.ts'

const door = fileOf('src/door.ts', [
  ' const hinge = 1',
  '-const open = false',
  '+const open = true',
  '+const wide = true',
])
const readme = fileOf('README.md', ['+# Door'], { status: 'added' })
const long = fileOf(
  'src/long.ts',
  Array.from({ length: 401 }, (_, index) => `+line ${index + 1}`),
)

test(
  'the sum of changes on card and panel opens the viewer',
  verifies('changes.viewer'),
  async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const files = [door, readme, long, omittedFile('logo.png', 'binary'), omittedFile('dump.sql', 'too_large')]
    const { session, door: issue } = await changedSession(company, robot, changesOf(files, { files_total: 9 }))
    await signedIn(page, company.owner)
    await page.goto(`/issue/${issue.code}`)
    const sum = page.getByRole('link', { name: '9 files +404 -1' })
    await expect(
      page.getByRole('region', { name: 'Session of Fixer' }).getByRole('link', { name: /9 files/ }),
    ).toBeVisible()
    await page.goto(`/agent-session/${session.id}`)
    await sum.click()

    await expect(page).toHaveURL(new RegExp(`/agent-session/${session.id}/changes$`))
    const tree = page.getByRole('tree', { name: 'Changed files' })
    await expect(tree.getByRole('treeitem')).toHaveText([
      'src',
      'Mmodifieddoor.ts',
      'Mmodifiedlong.ts',
      /README/,
      /dump/,
      /logo/,
    ])
    await expect(fileIn(page, 'src/door.ts')).toContainText('const open = true')
    await expect(fileIn(page, 'logo.png')).toContainText('Binary file: its content is not shown.')
    await expect(fileIn(page, 'dump.sql')).toContainText('Too large to be shown here.')
    await expect(viewer(page)).toContainText('4 more changed files are not listed here.')

    // Folded over 400 lines, until it is opened.
    const folded = fileIn(page, 'src/long.ts')
    await expect(folded.getByText('line 1', { exact: true })).toHaveCount(0)
    await folded.getByRole('button', { name: 'Show 401 lines' }).click()
    await expect(folded.getByText('line 1', { exact: true })).toBeVisible()

    // Side by side, the replaced line is beside the new one.
    await page.getByRole('button', { name: 'Split' }).click()
    const top = async (line: string) =>
      (await fileIn(page, 'src/door.ts').getByText(line).boundingBox())?.y ?? Number.NaN
    await expect.poll(async () => (await top('const open = false')) - (await top('const open = true'))).toBe(0)
    await tree.getByRole('treeitem', { name: 'README.md' }).click()
    await expectAtTop(page, 'README.md')
  },
)

test(
  'the viewer works with the keyboard alone and quotes lines into the message',
  verifies('changes.viewer'),
  async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const { path } = await changedSession(company, robot, changesOf([door, readme]))
    await signedIn(page, company.owner)
    await page.goto(path)
    await expect(fileIn(page, 'src/door.ts')).toContainText('const wide = true')
    keyboardOnly(page)
    await page.keyboard.press(']')
    await expectAtTop(page, 'README.md')
    await page.keyboard.press('[')
    await expectAtTop(page, 'src/door.ts')

    // One number of each file is in the order of Tab, the arrow keys reach the others.
    const header = fileIn(page, 'src/door.ts').getByRole('button', { expanded: true })
    await tabTo(header)
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const box = page.getByLabel('Message to Fixer')
    await expect(box).toBeFocused()
    await expect(box).toHaveValue('`src/door.ts:2` ')
    await page.keyboard.type('why?')
    await page.keyboard.press('Enter')
    expect((await robot.prompt()).prompt).toBe('`src/door.ts:2` why?')
    await expect(box).toHaveValue('')

    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expect(page).not.toHaveURL(/changes$/)
  },
)

for (const layout of ['Unified', 'Split']) {
  test(`axe finds nothing in the viewer: ${layout}`, verifies('changes.viewer'), async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const renamed = fileOf('b.ts', [], {
      status: 'renamed',
      old_path: 'a.ts',
      patch: 'rename from a.ts\nrename to b.ts\n',
    })
    const files = [door, readme, renamed, omittedFile('key.pem', 'redacted')]
    const { path } = await changedSession(company, robot, changesOf(files))
    await signedIn(page, company.owner)
    await page.goto(path)
    await page.getByRole('button', { name: layout }).click()
    await expect(fileIn(page, 'b.ts')).toContainText('Renamed without changes.')
    await expect(fileIn(page, 'key.pem')).toContainText('Not shown: it contains a secret.')
    await checkAxe(page)
  })
}

test('the viewer shows a new version at once', verifies('changes.viewer'), async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const { path, set } = await changedSession(company, robot, changesOf([door]))
  await signedIn(page, company.owner)
  await page.goto(path)
  await expect(fileIn(page, 'src/door.ts')).toContainText('const wide = true')
  await set(changesOf([fileOf('src/door.ts', ['-const open = false', '+const open = maybe']), readme]))
  await expect(fileIn(page, 'src/door.ts')).toContainText('const open = maybe')
  await expect(page.getByText('2 files +2 -1')).toBeVisible()
  await expect(page.getByRole('treeitem', { name: 'README.md' })).toBeVisible()
})

test('copies the command that brings the changes into a checkout', async ({
  page,
  company,
  agent,
  context,
  service,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const robot = await agent({ name: 'Fixer' })
  const { path, set, door: issue } = await changedSession(company, robot, changesOf([door]))
  await signedIn(page, company.owner)
  await page.goto(path)
  const copied = async () => {
    await page.getByRole('button', { name: 'Copy command' }).click()
    return page.evaluate(() => navigator.clipboard.readText())
  }
  await expect.poll(copied).toBe(`npx ${service.url}/packages/cli.tgz changes ${issue.code} --apply`)
  await set(changesOf([door], { pushed: true, remote_url: 'https://code.example.com/acme/door.git' }))
  await expect(page.getByText('(pushed)')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Copy command' })).toBeVisible()
  await expect.poll(copied).toBe('git fetch https://code.example.com/acme/door.git baton/eng-1-a1b2c3')
})

test('of 300 files, only the lines near the visible part are rendered', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const files = Array.from({ length: 300 }, (_, at) =>
    fileOf(
      `src/part-${at % 7}/file-${String(at).padStart(3, '0')}.ts`,
      Array.from({ length: 40 }, (_, line) => `${line % 3 ? '+' : ' '}line ${line} of ${at}`),
    ),
  )
  const { path } = await changedSession(company, robot, changesOf(files))
  await signedIn(page, company.owner)
  await page.goto(path)
  await expect(page.getByText('line 1 of 0', { exact: true })).toBeVisible()
  await expect(page.getByRole('treeitem')).toHaveCount(308)
  const lines = page.getByRole('button', { name: /^Quote line/ })
  expect(await lines.count()).toBeLessThan(500)
  await page.getByRole('treeitem', { name: 'file-293.ts' }).click()
  await expectAtTop(page, 'src/part-6/file-293.ts')
  await expect(page.getByText('line 1 of 293', { exact: true })).toBeVisible()
  expect(await lines.count()).toBeLessThan(500)
})

test.describe('on a narrow screen', () => {
  test.use({ viewport: narrow })

  test('the viewer fits', verifies('changes.viewer'), async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const wide = fileOf('src/a-folder-with-a-long-name/another-one/and-a-file.ts', [
      `+${'word '.repeat(80)}`,
      `+${'x'.repeat(500)}`,
    ])
    const { path, door: issue } = await changedSession(company, robot, changesOf([door, wide, readme]))
    await signedIn(page, company.owner)
    await page.goto(`/issue/${issue.code}`)
    await page.getByRole('link', { name: '3 files +5 -1' }).click()
    await expect(page).toHaveURL(new RegExp(`${path}$`))
    await expect(fileIn(page, 'src/door.ts')).toContainText('const wide = true')
    expect(await scrolledSideways(page)).toEqual([])

    // The tree covers the patches until a file is chosen.
    await page.getByRole('button', { name: 'Files', exact: true }).click()
    await checkAxe(page)
    await page.getByRole('treeitem', { name: 'README.md' }).click()
    await expect(page.getByRole('tree')).toHaveCount(0)
    await expectAtTop(page, 'README.md')
    await page.getByRole('button', { name: 'Split' }).click()
    expect(await scrolledSideways(page)).toEqual([])
    await checkAxe(page)
  })
})
