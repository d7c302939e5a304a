import { expect, keyboardOnly, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'
import { menu, pick, pickDay, property, toast } from './parts.ts'

test('a project is created and its fields are changed in place', async ({ page, company }) => {
  const { api } = company.owner
  await signedIn(page, company.owner)
  await page.goto('/projects')
  const spring = page.getByRole('listitem').filter({ hasText: 'Spring release' })
  await expect(spring).toContainText('25%')
  await expect(spring).toContainText('4 issues')
  await expect(spring).toContainText('ENG')

  await page.getByRole('button', { name: 'New project' }).click()
  await page.getByLabel('Title').fill('Winter release')
  await page.getByLabel('Engineering').check()
  await page.getByRole('button', { name: 'Create project' }).click()
  await expect(page).toHaveURL(/\/project\/prj_/)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('Winter release')

  await page.getByRole('textbox', { name: 'Title' }).fill('Winter release 2')
  await page.keyboard.press('Enter')
  await page.getByText('Add a description').click()
  await page.getByRole('textbox', { name: 'Description' }).fill('For **snow**.')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('For snow.')).toBeVisible()

  await pick(page, 'Status', 'In progress')
  await pick(page, 'Health', 'At risk')
  await toast(page, 'Health: At risk').getByRole('button', { name: 'Undo' }).click()
  await expect(property(page, 'Health')).toHaveText('No health')
  await pick(page, 'Health', 'Off track')
  await pick(page, 'Lead', 'Amir Admin')
  await property(page, 'Initiative').click()
  await menu(page).getByRole('combobox').fill('Comfort')
  await menu(page).getByRole('option', { name: 'Create initiative “Comfort”' }).click()
  await expect(property(page, 'Initiative')).toHaveText('Comfort')
  await property(page, 'Members').click()
  await menu(page).getByRole('option', { name: 'Mona Member' }).click()
  await menu(page).getByRole('option', { name: 'Olive Owner' }).click()
  await page.keyboard.press('Escape')
  await expect(property(page, 'Members')).toHaveAccessibleName(/Mona Member/)
  await property(page, 'Target date').click()
  await menu(page).getByRole('combobox').fill('2030-02-03')
  await menu(page).getByRole('option', { name: 'Sun, Feb 3' }).click()
  await expect(property(page, 'Target date')).toContainText('Feb 3, 2030')

  const id = page.url().split('/').at(-1) ?? ''
  await expect
    .poll(() => api.getProject({ project_id: id }))
    .toMatchObject({
      title: 'Winter release 2',
      description: 'For **snow**.',
      status: 'in_progress',
      health_status: 'off_track',
      lead_id: company.admin.id,
      member_ids: [company.member.id, company.owner.id].sort(),
      team_ids: [company.engineering.id],
    })
})

test('a project is planned by milestones, and deleted without its issues', async ({ page, company }) => {
  const { api } = company.owner
  const { id } = company.project
  const [door] = company.issues
  await signedIn(page, company.owner)
  await page.goto(`/project/${id}`)
  await page.getByRole('button', { name: 'Add milestone' }).click()
  await page.getByLabel('Name').fill('First snow')
  const form = page.getByRole('form', { name: 'New milestone' })
  await pickDay(page, form.getByRole('button', { name: 'Target date: none' }), '20 Jan 2030')
  await expect(form.getByRole('button', { name: 'Target date: Jan 20, 2030' })).toBeVisible()
  await form.getByRole('button', { name: 'Add milestone' }).click()
  const milestone = page.getByRole('region', { name: 'First snow' })
  await expect(milestone).toContainText('due Jan 20, 2030')
  await expect(milestone).toContainText('0 of 0 done')

  await milestone.getByRole('button', { name: 'Add issue to First snow' }).click()
  await menu(page).getByRole('textbox', { name: 'Title' }).fill('Sharpen the skates')
  await page.keyboard.press('Control+Enter')
  await expect(milestone.getByRole('link', { name: /Sharpen the skates/ })).toBeVisible()
  await page.getByRole('button', { name: `Milestone of ${door.code}` }).click()
  await menu(page).getByRole('option', { name: 'First snow' }).click()
  await expect(milestone).toContainText('0 of 2 done')
  await api.updateIssue({ issue_id: door.id, status: 'done' })
  await expect(milestone).toContainText('1 of 2 done')
  await expect(page.getByRole('progressbar', { name: 'Progress' })).toHaveAttribute('aria-valuenow', '40')
  await milestone.getByRole('button', { name: 'Actions for First snow' }).click()
  await page.getByRole('menuitem', { name: 'Edit milestone' }).click()
  const hebrew = 'קרח'
  await page.getByLabel('Name').fill(hebrew)
  await page.getByRole('form').getByRole('button', { name: 'Save' }).click()
  // The name cannot change the direction of the words around it.
  const actions = page.getByRole('button', { name: `Actions for \u2068${hebrew}\u2069` })
  await actions.click()
  await page.getByRole('menuitem', { name: 'Delete milestone' }).click()
  await page.getByRole('button', { name: 'Delete milestone' }).click()
  await expect(toast(page, `\u2068${hebrew}\u2069 deleted`)).toBeVisible()
  await expect(actions).toHaveCount(0)
  await expect(page.getByRole('link', { name: /The door sticks/ })).toBeVisible()

  await page.getByRole('button', { name: 'Project actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete project' }).click()
  await expect(page.getByRole('button', { name: 'Delete project' })).toBeDisabled()
  await page.getByLabel('Type Spring release to confirm').fill('Spring release')
  await page.getByRole('button', { name: 'Delete project' }).click()
  await expect(page).toHaveURL(/\/projects$/)
  await expect(page.getByRole('heading', { name: 'No projects yet' })).toBeVisible()
  expect((await api.getIssue({ issue_id: door.id })).project_id).toBeNull()
})

test('projects can be used with the keyboard alone', async ({ page, company }) => {
  await company.owner.api.createProject({ title: 'Summer release', team_ids: [company.engineering.id] })
  await signedIn(page, company.member)
  await page.goto('/inbox')
  await page.getByRole('link', { name: 'Projects' }).click()
  const spring = page.getByRole('link', { name: /Spring release/ })
  await expect(spring).toBeVisible()
  keyboardOnly(page)
  const type = page.keyboard
  const openMenu = async (key: string, title: string) => {
    await type.press(key)
    await expect(page.getByRole('combobox', { name: title })).toBeFocused()
  }
  await type.press('j')
  await expect(spring).toBeFocused()
  await openMenu('h', 'Health')
  await type.type('risk')
  await expect(menu(page).getByRole('option')).toHaveText(['At risk'])
  await type.press('Enter')
  await expect(page.getByRole('listitem').filter({ hasText: 'Spring release' })).toContainText('At risk')
  await expect(toast(page, 'Health: At risk')).toBeVisible()
  await type.press('Control+z')
  await expect(page.getByRole('listitem').filter({ hasText: 'Spring release' })).toContainText('No health')
  // The project moves to another group and keeps the focus.
  await openMenu('s', 'Status')
  await type.type('paused')
  await expect(menu(page).getByRole('option')).toHaveCount(1)
  await type.press('Enter')
  await expect(page.getByRole('region', { name: 'Paused' })).toContainText('Spring release')
  await expect(spring).toBeFocused()
  await type.press('Enter')
  await expect(page).toHaveURL(new RegExp(`/project/${company.project.id}$`))

  await type.press('n')
  await type.press('p')
  await expect(menu(page).getByLabel('Title')).toBeFocused()
  await type.type('Autumn release')
  await type.press('Control+Enter')
  await expect(page).toHaveURL(/\/project\/prj_/)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('Autumn release')
  await type.press('e')
  await expect(page.getByRole('textbox', { name: 'Description' })).toBeFocused()
  await type.type('For **leaves**.')
  await type.press('Control+Enter')
  await expect(page.getByText('For leaves.')).toBeVisible()
  await openMenu('s', 'Status')
  await type.type('progress')
  await expect(menu(page).getByRole('option')).toHaveCount(1)
  await type.press('Enter')
  await expect(property(page, 'Status')).toHaveText('In progress')
  await type.press('n')
  await type.press('m')
  await expect(page.getByLabel('Name')).toBeFocused()
  await type.type('Rakes')
  await type.press('Enter')
  await expect(page.getByRole('region', { name: 'Rakes' })).toBeVisible()
  await type.press('m')
  await expect(page.getByRole('textbox', { name: 'Comment', exact: true })).toBeFocused()
  await type.type('Who has a rake?')
  await type.press('Control+Enter')
  await expect(page.getByRole('region', { name: 'Activity' })).toContainText('Who has a rake?')
  await type.press('Escape')
  await type.press('Escape')
  await expect(page).toHaveURL(/\/projects$/)
})

test(
  'an agent that is mentioned on a project answers there',
  verifies('mention.project-covered-by-all-teams', 'session.issue-null-on-project-comment'),
  async ({ page, company, agent }) => {
    const robot = await agent()
    await signedIn(page, company.member)
    await page.goto(`/project/${company.project.id}`)
    const composer = page.getByRole('textbox', { name: 'Comment', exact: true })
    await composer.pressSequentially('What is left, @Rob')
    await page.getByRole('option', { name: /Robot/ }).click()
    await composer.press('Control+Enter')
    const session = await robot.session()
    await session.thought('Counting the issues.')
    await session.respond('Three of four are open.')
    const card = page.getByRole('region', { name: 'Session of Robot' })
    await expect(card).toContainText('Three of four are open.')
    const { data } = await company.member.api.listAgentSessions({ project_id: company.project.id })
    expect(data).toMatchObject([{ state: 'complete', issue: null }])
    await page.getByRole('link', { name: 'Agents' }).click()
    await expect(page.getByRole('link', { name: /What is left, @Robot Done/ })).toBeVisible()
  },
)

test('shows changes by others and keeps typed text', async ({ page, company, secondBrowser }) => {
  const other = await secondBrowser(company.admin)
  const address = `/project/${company.project.id}`
  await signedIn(page, company.owner)
  await page.goto(address)
  await page.getByText('Add a description').click()
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.fill('Half of a thought')

  await other.goto(address)
  await other.getByText('Add a description').click()
  await other.getByRole('textbox', { name: 'Description' }).fill('A whole thought')
  await other.getByRole('button', { name: 'Save' }).click()
  await pick(other, 'Health', 'On track')

  await expect(property(page, 'Health')).toHaveText('On track')
  await expect(page.getByText('Someone else changed the description')).toBeVisible()
  await expect(description).toHaveValue('Half of a thought')
  await page.getByRole('button', { name: 'Use their version' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByText('A whole thought')).toBeVisible()

  await company.owner.api.deleteProject({ project_id: company.project.id })
  await expect(other.getByRole('heading', { name: 'This project is no longer available' })).toBeVisible()
})

test('reverts a refused change and shows the reason', async ({ page, company, faults }) => {
  await signedIn(page, company.admin)
  await page.goto(`/project/${company.project.id}`)
  await expect(property(page, 'Lead')).toHaveText('No lead')
  await property(page, 'Lead').click()
  await expect(menu(page).getByRole('option', { name: 'Mona Member' })).toBeVisible()
  // Mona is removed while the menu is open.
  await company.owner.api.removeMember({ user_id: company.member.id })
  faults.expect(/status of 422/)
  await menu(page).getByRole('option', { name: 'Mona Member' }).click()
  await expect(page.getByRole('alert')).toContainText('Lead is not a person of this workspace')
  await expect(property(page, 'Lead')).toHaveText('No lead')
  expect((await company.owner.api.getProject({ project_id: company.project.id })).lead_id).toBeNull()

  await property(page, 'Visibility').click()
  await expect(menu(page).getByRole('option', { name: /Private/ })).toContainText('Only the owner can make')
  await page.keyboard.type('private')
  await page.keyboard.press('Enter')
  await expect(menu(page).getByRole('option', { name: /Private/ })).toBeVisible()
  expect((await company.owner.api.getProject({ project_id: company.project.id })).personal).toBe(false)
})

test('only the owner sees a private project', async ({ page, company, secondBrowser, faults }) => {
  const other = await secondBrowser(company.admin)
  await other.goto('/projects')
  await expect(other.getByText('Spring release')).toBeVisible()
  await signedIn(page, company.owner)
  await page.goto(`/project/${company.project.id}`)
  await pick(page, 'Visibility', 'Private')
  await page.getByRole('button', { name: 'Make private' }).click()
  await expect(property(page, 'Visibility')).toHaveText('Private')
  await expect(property(page, 'Teams')).toHaveText('No teams')
  await expect(other.getByRole('heading', { name: 'No projects yet' })).toBeVisible()
  faults.expect(/status of 404/)
  await other.goto(`/project/${company.project.id}`)
  await expect(other.getByRole('heading', { name: 'Project not found' })).toBeVisible()
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('projects and a project need no sideways scrolling', async ({ page, company }) => {
    const long = 'A project with quite a long name that does not fit on a phone in one line'
    const { id } = await company.owner.api.createProject({
      title: long,
      health_status: 'at_risk',
      lead_id: company.owner.id,
      target_date: '2030-02-03T12:00:00Z',
      team_ids: [company.engineering.id, company.design.id],
    })
    await signedIn(page, company.owner)
    await page.goto('/projects')
    await page.getByRole('button', { name: 'Initiative' }).click()
    await expect(page).toHaveURL(/group=initiative/)
    await expect(page.getByRole('region', { name: 'No initiative' })).toContainText(long)
    expect(await scrolledSideways(page)).toEqual([])
    await page.getByRole('link', { name: new RegExp(long) }).click()
    await page.getByRole('button', { name: 'Health: At risk' }).click()
    await menu(page).getByRole('option', { name: 'On track' }).click()
    await expect(page.getByRole('button', { name: 'Health: On track' })).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    await expect
      .poll(async () => (await company.owner.api.getProject({ project_id: id })).health_status)
      .toBe('on_track')
  })
})
