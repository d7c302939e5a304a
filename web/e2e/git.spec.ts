import type { GitConnection } from '@baton/protocol'
import type { Locator, Page } from '@playwright/test'
import { mergeRequest, type PullRequestFields, pullRequest, push, signed } from '../../server/test/git-payloads.ts'
import {
  type Company,
  checkAxe,
  expect,
  keyboardOnly,
  narrow,
  scrolledSideways,
  signedIn,
  test,
  verifies,
} from './baton.ts'

const settings = '/settings/git'
type Connection = GitConnection & { secret: string }

const connect = ({ owner }: Company): Promise<Connection> =>
  owner.api.createGitConnection({ kind: 'github', name: 'Shop', repositories: ['acme/shop'] })

/** Sends a body as the git host does; returns the outcome. */
async function send(url: string, { id, kind, secret }: Connection, body: object, event?: string): Promise<string> {
  const raw = JSON.stringify(body)
  const headers = {
    'content-type': 'application/json',
    ...(signed(kind, secret, raw, event) as Record<string, string>),
  }
  const response = await fetch(`${url}/hooks/git/${id}`, { method: 'POST', headers, body: raw })
  expect(response.status).toBe(202)
  return ((await response.json()) as { outcome: string }).outcome
}

async function tabTo(page: Page, target: Locator) {
  for (let presses = 0; presses < 60; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('cannot be reached by Tab')
}

const pullRequests = (page: Page) => page.getByRole('region', { name: 'Pull requests' })

test(
  'a manager connects repositories, sees deliveries, rotates the secret and deletes the connection',
  verifies('git.secret-sealed', 'git.github-signature'),
  async ({ page, company, service, faults }) => {
    const { api } = company.owner
    await signedIn(page, company.owner)
    await page.goto(settings)
    await page.getByRole('button', { name: 'Connect repositories' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Connect repositories' })
    await dialog.getByLabel('Name', { exact: true }).fill('Shop')
    await dialog.getByLabel('Repositories').fill('shop')
    faults.expect(/status of 422/)
    await dialog.getByRole('button', { name: 'Create connection' }).click()
    await expect(dialog.getByLabel('Repositories')).toHaveAccessibleDescription(/owner\/name/)
    expect((await api.listGitConnections({})).data).toEqual([])
    await dialog.getByLabel('Repositories').fill('acme/shop\nacme/site')
    await dialog.getByLabel('Access token').fill('ghp_not-shown-again')
    await dialog.getByRole('button', { name: 'Create connection' }).click()

    const created = page.getByRole('dialog', { name: 'Shop created' })
    const secret = await created.getByText(/^whsec_/).innerText()
    const [connection] = (await api.listGitConnections({})).data
    if (!connection) throw new Error('no connection')
    expect(connection).toMatchObject({ repositories: ['acme/shop', 'acme/site'], team_ids: null, has_token: true })
    await expect(created.getByText(`${service.url}/hooks/git/${connection.id}`)).toBeVisible()
    await checkAxe(page)
    await created.getByRole('button', { name: 'Open connection' }).click()
    await expect(page.getByText('Not set up')).toBeVisible()
    await expect(page.getByText(secret)).toHaveCount(0)

    const withSecret = { ...connection, secret }
    expect(await send(service.url, withSecret, { zen: 'Simple.' }, 'ping')).toBe('ignored_event')
    expect(await send(service.url, withSecret, pullRequest({ title: 'ENG-1 oil' }))).toBe('linked')
    const wrong = await fetch(`${service.url}/hooks/git/${connection.id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(wrong.status).toBe(401)
    await page.reload()
    const deliveries = page.getByRole('list', { name: 'Recent deliveries' })
    await expect(deliveries.getByRole('listitem')).toHaveCount(2)
    await expect(deliveries.getByRole('listitem').first()).toContainText(/Linked.*pull_request.*acme\/shop#7/)
    await expect(page.getByText('1 request refused')).toBeVisible()
    await expect(page.getByText(/ghp_/)).toHaveCount(0)
    await page.setViewportSize(narrow)
    expect(await scrolledSideways(page)).toEqual([])

    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    const rotated = await page
      .getByText(/^whsec_/)
      .first()
      .innerText()
    expect(rotated).not.toBe(secret)
    expect(await send(service.url, { ...connection, secret: rotated }, pullRequest({ number: 8 }))).toBe('no_code')

    await page.getByRole('button', { name: 'Delete connection' }).click()
    await page.getByLabel('Type Shop to confirm').fill('Shop')
    await page.getByRole('button', { name: 'Delete permanently' }).click()
    await expect(page.getByText('No repositories connected')).toBeVisible()
    expect((await api.listGitConnections({})).data).toEqual([])
  },
)

test('setup steps fit the git host', verifies('git.gitlab-signature'), async ({ page, company, service }) => {
  const { owner } = company
  const gitlab = await owner.api.createGitConnection({ kind: 'gitlab', name: 'Lab', repositories: ['acme/team/shop'] })
  await signedIn(page, owner)
  await page.goto(`${settings}/${gitlab.id}`)
  await expect(page.getByText(/Merge request events/)).toBeVisible()
  const project = { path_with_namespace: 'acme/team/shop', web_url: 'https://gitlab.com/acme/team/shop' }
  expect(await send(service.url, gitlab, mergeRequest({ title: 'ENG-1' }, { project }))).toBe('linked')
  await expect(page.getByRole('list', { name: 'Recent deliveries' })).toContainText('Merge Request Hook')
})

test(
  'managers set the automation of each team',
  verifies('git.automation-per-team'),
  async ({ page, company, service }) => {
    const { owner, engineering, design } = company
    const connection = await connect(company)
    await signedIn(page, owner)
    await page.goto(settings)
    await page.getByLabel('Team', { exact: true }).selectOption('Engineering')
    await expect(page.getByLabel('The last one is merged')).toHaveValue('done')
    await page.getByLabel('A pull request is opened').selectOption('QA')
    await expect(page.getByText('Automation saved')).toBeVisible()
    await page.getByLabel('The last one is merged').selectOption('No change')
    await expect
      .poll(() => owner.api.getGitAutomation({ team_id: engineering.id }))
      .toMatchObject({ opened: 'qa', merged: null, branch: null })
    expect(await owner.api.getGitAutomation({ team_id: design.id })).toMatchObject({ opened: 'in_progress' })
    const [issue] = company.issues
    await send(service.url, connection, pullRequest({ title: issue.code }))
    expect(await owner.api.getIssue({ issue_id: issue.id })).toMatchObject({ status: 'qa' })
  },
)

test('members see no git settings', verifies('git.secret-sealed'), async ({ page, company }) => {
  await connect(company)
  await signedIn(page, company.member)
  await page.goto(settings)
  await expect(page.getByText('Owners and admins only')).toBeVisible()
  await expect(page.getByRole('navigation', { name: 'Settings' }).getByText('Git')).toHaveCount(0)
})

test(
  'an issue shows branches and pull requests as they change, titles as plain text',
  verifies('git.branch-shown', 'git.states', 'git.title-as-text', 'git.automation-opened'),
  async ({ page, company, service }) => {
    const connection = await connect(company)
    const [issue] = company.issues
    await signedIn(page, company.member)
    await page.goto(`/issue/${issue.code}`)
    await expect(page.getByRole('heading', { name: /activity/i })).toBeVisible()
    await expect(pullRequests(page)).toHaveCount(0)

    const branch = `ada/${issue.code.toLowerCase()}`
    const at = Math.floor(Date.now() / 1000)
    await send(service.url, connection, push(branch, { at }), 'push')
    await expect(pullRequests(page).getByRole('link')).toHaveAccessibleName(`Branch ${branch} acme/shop`)
    const title = '**bold** <img src=x onerror=alert(1)> [link](https://evil.example.com)'
    const report = (fields: PullRequestFields) =>
      send(service.url, connection, pullRequest({ branch, title, updated: new Date().toISOString(), ...fields }))
    await report({ reviewers: ['grace'] })
    const link = pullRequests(page).getByRole('link')
    await expect(link).toHaveCount(1)
    await expect(link).toHaveAccessibleName(`Open ${title} acme/shop#7 Review requested`)
    await expect(link).toHaveAttribute('href', 'https://github.com/acme/shop/pull/7')
    await expect(pullRequests(page).locator('img, strong')).toHaveCount(0)
    await expect(page.getByText(/Automation.*In progress/)).toBeVisible()

    await report({ merged: true, action: 'closed' })
    await expect(link).toHaveAccessibleName(`Merged ${title} acme/shop#7`)
    await page.setViewportSize(narrow)
    expect(await scrolledSideways(page)).toEqual([])
  },
)

test(
  'by keyboard: copies the branch name, links and unlinks a pull request',
  verifies('git.branch-name', 'git.link-by-words'),
  async ({ page, context, company, service }) => {
    const connection = await connect(company)
    const { owner } = company
    const [issue] = company.issues
    await send(service.url, connection, pullRequest({ title: 'Paint the door' }))
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await signedIn(page, owner)
    await page.goto(`/issue/${issue.code}`)
    await expect(page.getByRole('heading', { name: /activity/i })).toBeVisible()
    await keyboardOnly(page)
    await page.keyboard.press('Shift+B')
    await expect(page.getByText('Branch name copied')).toBeVisible()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toMatch(new RegExp(`^[a-z0-9]+/${issue.code.toLowerCase()}-[a-z0-9-]+$`))

    await page.keyboard.press('ControlOrMeta+k')
    // The palette may still be loading after the page has appeared.
    await expect(page.getByLabel('Search issues and commands')).toBeFocused()
    await page.keyboard.type('link pull request')
    await expect(page.getByRole('option', { name: 'Link pull request…', selected: true })).toBeVisible()
    await page.keyboard.press('Enter')
    const option = page.getByRole('option', { name: /acme\/shop#7\s+Paint the door/ })
    await expect(option).toBeVisible()
    await page.keyboard.type('paint')
    await expect(option).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(pullRequests(page).getByRole('link')).toHaveAccessibleName(/Paint the door/)
    const linked = async () => (await owner.api.listPullRequests({ issue_id: issue.id })).data.length
    expect(await linked()).toBe(1)
    await tabTo(page, page.getByRole('button', { name: 'Unlink acme/shop#7' }))
    await page.keyboard.press('Enter')
    await expect(pullRequests(page)).toHaveCount(0)
    await expect.poll(linked).toBe(0)
    // The copied name is that of a branch that is linked.
    expect(await send(service.url, connection, pullRequest({ number: 8, branch: copied }))).toBe('linked')
    await expect(pullRequests(page).getByRole('link')).toHaveAccessibleName(/acme\/shop#8/)
  },
)

test(
  'the session panel shows the pull requests of the session',
  verifies('git.session'),
  async ({ page, company, agent, service }) => {
    const connection = await connect(company)
    const robot = await agent()
    const [issue] = company.issues
    await company.owner.api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId })
    const session = await robot.session()
    await session.addUrl('Pull request', 'https://github.com/acme/shop/pull/7')
    await session.addUrl('Preview', 'https://preview.example.com/7')
    await send(service.url, connection, pullRequest({ title: 'Oil the hinges', reviewers: ['grace'] }))
    await send(
      service.url,
      connection,
      pullRequest({ number: 8, title: 'Paint the door', branch: `agent/${session.id}` }),
    )
    await signedIn(page, company.owner)
    await page.goto(`/agent-session/${session.id}`)
    const list = page.getByRole('list', { name: 'Pull requests' })
    await expect(list.getByRole('link')).toHaveCount(2)
    await expect(list.getByRole('link').first()).toHaveAccessibleName('Open Paint the door acme/shop#8')
    // A link that is shown with its state is not shown twice.
    const links = page.getByRole('list', { name: 'Links' })
    await expect(links.getByRole('link')).toHaveCount(1)
    await expect(links).toContainText('Preview')
  },
)
