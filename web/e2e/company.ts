import { BatonClient, type Issue, type Project, type Team } from '@baton/sdk'
import type { Page } from '@playwright/test'

export interface Person {
  id: string
  name: string
  email: string
  password: string
  role: 'owner' | 'admin' | 'member'
  token: string
  workspaceId: string
  /** Every operation of the API, as this person. */
  api: BatonClient
}

/** A workspace for one test, created over the API. */
export interface Company {
  id: string
  name: string
  owner: Person
  admin: Person
  member: Person
  /** ENG, with all three people. */
  engineering: Team
  /** DES, without the member. */
  design: Team
  /** ENG-1 to ENG-4 and DES-1, in that order. */
  issues: [Issue, Issue, Issue, Issue, Issue]
  project: Project
}

const password = 'correct horse battery'
let people = 0

interface Account {
  id: string
  name: string
  email: string
  password: string
  token: string
}

/** An account without a workspace. */
export async function signUp(url: string, name: string): Promise<Account> {
  const email = `${name.split(' ')[0]?.toLowerCase()}-${++people}@example.com`
  const { user, token } = await new BatonClient({ baseUrl: url }).signUp({ email, password, name })
  return { id: user.id, name, email, password, token }
}

export async function createCompany(url: string, name = 'Acme'): Promise<Company> {
  const [first, second, third] = await Promise.all(
    ['Olive Owner', 'Amir Admin', 'Mona Member'].map((person) => signUp(url, person)),
  )
  if (!first || !second || !third) throw new Error('three people were expected')
  const { id } = await new BatonClient({ baseUrl: url, token: first.token }).createWorkspace({ name })
  const inside = (account: Account, role: Person['role']): Person => ({
    ...account,
    role,
    workspaceId: id,
    api: new BatonClient({ baseUrl: url, token: account.token, workspaceId: id }),
  })
  const owner = inside(first, 'owner')
  const admin = inside(second, 'admin')
  const member = inside(third, 'member')
  for (const { email, role, api } of [admin, member]) {
    const { token } = await owner.api.createInvitation({ email, role })
    await api.acceptInvitation({ token })
  }
  const engineering = await owner.api.createTeam({ name: 'Engineering', key: 'ENG' })
  const design = await owner.api.createTeam({ name: 'Design', key: 'DES' })
  await owner.api.addTeamMember({ team_id: engineering.id, user_id: admin.id })
  await owner.api.addTeamMember({ team_id: engineering.id, user_id: member.id })
  await owner.api.addTeamMember({ team_id: design.id, user_id: admin.id })
  const tracker = await fill({ owner, member, engineering, design })
  return { id, name, owner, admin, member, engineering, design, ...tracker }
}

async function fill({
  owner,
  member,
  engineering,
  design,
}: Pick<Company, 'owner' | 'member' | 'engineering' | 'design'>) {
  const { api } = owner
  const project = await api.createProject({
    title: 'Spring release',
    status: 'in_progress',
    team_ids: [engineering.id],
  })
  const eng = { team_id: engineering.id, project_id: project.id }
  // Created in sequence, so that their codes are known.
  const issues: Company['issues'] = [
    await api.createIssue({
      ...eng,
      title: 'The door sticks',
      description: 'It **sticks** when it rains.\n\n- push\n- pull',
      type: 'bug',
      status: 'todo',
      priority: 'high',
      assignee_id: owner.id,
    }),
    await api.createIssue({ ...eng, title: 'Oil the hinges', status: 'in_progress', assignee_id: member.id }),
    await api.createIssue({ ...eng, title: 'Measure the frame', type: 'task', priority: 'low' }),
    await api.createIssue({ ...eng, title: 'Order new screws', status: 'done' }),
    await api.createIssue({ team_id: design.id, title: 'Choose a colour', type: 'feature', status: 'todo' }),
  ]
  return { project, issues }
}

/**
 * Signs the person in to this browser with the login that their API uses, or with one of its own for tests that end or
 * list logins. The first steps of the workspace are dismissed, unless the test wants them.
 */
export async function signedIn(
  page: Page,
  { email, password, api, token, workspaceId }: Pick<Person, 'email' | 'password' | 'api'> & Partial<Person>,
  { firstSteps = false, tour = false, ownLogin = false } = {},
) {
  const dismissed = {
    ...(tour ? {} : { 'baton.tour': '{"isEnded":true}' }),
    ...(firstSteps ? {} : { [`baton.first-steps.${workspaceId ?? ''}`]: 'dismissed' }),
  }
  await page.addInitScript((items) => {
    // It also runs in sandboxed frames, where reading the storage throws.
    if (window.origin === 'null') return
    for (const [key, value] of Object.entries(items)) localStorage.setItem(key, value)
  }, dismissed)
  const context = page.context()
  if (token !== undefined && !ownLogin) {
    const cookie = { name: 'baton_session', value: token, httpOnly: true, sameSite: 'Lax' as const }
    await context.addCookies([{ ...cookie, url: api.rootUrl }])
    return
  }
  const answer = await context.request.post(`${api.baseUrl}/auth/sign-in`, { data: { email, password } })
  if (!answer.ok()) throw new Error(`${email} could not sign in: ${answer.status()} ${await answer.text()}`)
}
