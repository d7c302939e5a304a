import { expect, keyboardOnly, narrow, scrolledSideways, signedIn, test } from './baton.ts'
import { property, rowOf, typeInPalette } from './parts.ts'

test('the palette finds issues, projects, people, agents, views and comments by keyboard', async ({
  page,
  company,
  agent,
}) => {
  const { owner, member, project, issues } = company
  const robot = await agent({ name: 'Fixer' })
  const [door] = issues
  await owner.api.createView({ name: 'Squeaky work', query: 'status=todo' })
  const comment = await member.api.createComment({
    target_type: 'issue',
    target_id: door.id,
    text: 'The **lintel** squeaks in winter.',
  })
  const hidden = await owner.api.createIssue({ title: 'Not for others', personal: true })
  await owner.api.createComment({ target_type: 'issue', target_id: hidden.id, text: 'My own lintel' })
  await company.admin.api.updateAccount({ display_name: 'Amélie Öz' })
  await signedIn(page, member)
  await page.goto('/issues')
  await rowOf(page, door.title).waitFor()
  keyboardOnly(page)
  const find = (words: string) => typeInPalette(page, words)
  const option = (name: string | RegExp) => page.getByRole('option', { name })
  const go = async (words: string, name: string | RegExp, url: RegExp) => {
    await find(words)
    await expect(option(name)).toHaveAttribute('aria-selected', 'true')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(url)
  }
  await go('lintel', 'The lintel squeaks in winter. Mona Member · ENG-1', new RegExp(`#comment-${comment.id}$`))
  await expect(page.locator(`#comment-${comment.id}`)).toBeInViewport()
  await go(project.title.toLowerCase(), project.title, new RegExp(`/project/${project.id}$`))
  await go('ameli', 'Amélie Öz Assigned issues', new RegExp(`/issues\\?assignee=${company.admin.id}`))
  await go('engin', 'Engineering ENG issues', /\/issues\?team=ENG$/)
  await go('settings cycl', 'Cycle settings', /\/settings\/cycles$/)
  await go('fixer', 'Fixer Sessions', new RegExp(`/agents\\?agent=${robot.userId}`))
  await go(door.title.toLowerCase(), /^ENG-1/, /\/issue\/ENG-1$/)
  // The view is private to its owner, and so is the issue of the other comment.
  await find('squeaky')
  await expect(page.getByText('No results for “squeaky”.')).toBeVisible()
  await page.keyboard.press('Escape')
  await find('own lintel')
  await expect(page.getByText('No results for “own lintel”.')).toBeVisible()
})

test('a comment of the open issue scrolls into view, and the page around it stays in place', async ({
  page,
  company,
}) => {
  const { owner, issues } = company
  const [door, hinges] = issues
  const say = (text: string) => owner.api.createComment({ target_type: 'issue', target_id: door.id, text })
  const first = await say('Check the lintel first.')
  for (let index = 0; index < 12; index++) await say('A long discussion.\n\n'.repeat(4))
  await signedIn(page, owner)
  await page.goto(`/issue/${door.code}`)
  const last = await say(`The threshold comes last, see [${hinges.code}](${hinges.url}).`)
  const header = page.getByRole('main').locator('header').first()
  const before = await header.boundingBox()
  for (const [words, { id }] of [
    ['threshold', last],
    ['lintel', first],
  ] as const) {
    await typeInPalette(page, words)
    await page.getByRole('option', { name: new RegExp(words) }).click()
    await expect(page).toHaveURL(new RegExp(`#comment-${id}$`))
    await expect(page.locator(`#comment-${id}`)).toBeInViewport({ ratio: 1 })
    expect(await header.boundingBox()).toEqual(before)
    expect(await page.evaluate(() => [document.scrollingElement?.scrollTop, document.body.scrollTop])).toEqual([0, 0])
  }
})

test('the palette opens with the commands of the screen, each once and with an icon', async ({ page, company }) => {
  const { owner, issues } = company
  await owner.api.createView({ name: 'Ready', query: 'status=todo' })
  await signedIn(page, owner)
  const titles = async () => {
    await page.keyboard.press('Control+k')
    const options = page.getByRole('listbox', { name: 'Results' }).getByRole('option')
    await expect(options.first()).toBeVisible()
    const rows = await options.evaluateAll((all) =>
      all.map((one) => ({
        title: one.querySelector('span')?.textContent ?? '',
        icon: one.querySelector('svg') !== null,
      })),
    )
    expect(rows.filter(({ icon }) => !icon)).toEqual([])
    const all = rows.map(({ title }) => title)
    expect(all.filter((title, index) => all.indexOf(title) < index)).toEqual([])
    return all
  }
  await page.goto(`/issue/${issues[0].code}`)
  await expect(property(page, 'Status')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Ready', exact: true })).toBeVisible()
  const onIssue = await titles()
  expect(onIssue.slice(0, 30)).toEqual(expect.arrayContaining(['Status', 'Delegate', 'Comment', 'Copy link']))
  expect(onIssue).toContain('Ready')
  expect(onIssue.indexOf('Inbox')).toBeGreaterThan(onIssue.indexOf('Delete issue…'))

  await page.goto('/issues')
  await rowOf(page, issues[0].title).waitFor()
  const onList = await titles()
  expect(onList.slice(0, 4)).toContain('Filter issues')
  expect(onList).not.toContain('Change status')
  expect(onList).not.toContain('Clear filters')
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await expect(page.locator('[aria-current="true"]')).toBeVisible()
  expect((await titles()).slice(0, 8)).toContain('Change status')
  await page.keyboard.press('Escape')
  // With a preview, the list and the issue both have a status.
  await page.keyboard.press('Space')
  await expect(page.getByRole('complementary', { name: /^Issue ENG/ })).toBeVisible()
  await expect(
    page.getByRole('complementary', { name: /^Issue ENG/ }).getByRole('textbox', { name: 'Title' }),
  ).toBeVisible()
  const withPreview = await titles()
  expect(withPreview).toContain('Change status')
  expect(withPreview).not.toContain('Status')
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('the palette fits', async ({ page, company }) => {
    await signedIn(page, company.owner)
    await page.goto('/issues')
    await rowOf(page, company.issues[0].title).waitFor()
    await page.keyboard.press('/')
    await page.getByLabel('Search issues and commands').fill('o')
    await expect(page.getByRole('option').first()).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
  })
})

test('the palette lists the issue of a code first, and opens a code from before a move', async ({ page, company }) => {
  const { api } = company.owner
  const { data: teams } = await api.listTeams({})
  const titles = Array.from({ length: 14 }, (_, index) => ({
    title: `Plank ${index}`,
    team_id: teams[0]?.id as string,
  }))
  const planks = await Promise.all(titles.map((one) => api.createIssue(one)))
  const first = planks.find(({ code }) => planks.some((other) => other.code.startsWith(code) && other.code !== code))
  await signedIn(page, company.owner)
  await page.goto('/issues')
  await rowOf(page, 'Plank 0').waitFor()
  const wanted = first?.code ?? (planks[0]?.code as string)
  await typeInPalette(page, wanted)
  await expect(page.getByRole('option').first()).toContainText(`${wanted}  Plank`)
  await page.keyboard.press('Escape')
  const other = await api.createTeam({ name: 'Quarry', key: 'QUA' })
  const moved = planks.at(-1) as { id: string; code: string; title: string }
  await api.updateIssue({ issue_id: moved.id, team_id: other.id })
  await typeInPalette(page, moved.code.toLowerCase())
  await page.getByRole('option', { name: `Open ${moved.code}` }).click()
  await expect(page.getByRole('main')).toContainText(moved.title)
})
