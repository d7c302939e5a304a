import { setTimeout as sleep } from 'node:timers/promises'
import { ownDatabase } from '../../server/test/empty-databases.ts'
import { freePort, ServiceProcess } from '../../server/test/service-process.ts'

interface Person {
  email: string
  password: string
  token: string
  userId: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers freely
  call(method: string, path: string, body?: unknown): Promise<any>
}

/** A service process with an owner, a member and the team ENG, by the real clock. */
export async function realService() {
  const { env, remove } = await ownDatabase()
  const port = await freePort()
  const start = () => new ServiceProcess(port, env)
  const here = { service: start() }
  await here.service.ready()
  const signUp = async (name: string): Promise<Omit<Person, 'call'>> => {
    const account = { email: `${name}@example.com`, password: 'a password', name }
    const { token, user } = await here.service.call('POST', '/auth/sign-up', account)
    return { ...account, token, userId: user.id }
  }
  const within = (person: Omit<Person, 'call'>, id: string): Person => ({
    ...person,
    call: (method, path, body) =>
      here.service.call(method, path, body, { authorization: `Bearer ${person.token}`, 'x-workspace-id': id }),
  })
  const ann = await signUp('ann')
  const bob = await signUp('bob')
  const { id } = await here.service.call(
    'POST',
    '/workspaces',
    { name: 'Acme' },
    { authorization: `Bearer ${ann.token}` },
  )
  const owner = within(ann, id)
  const { token } = await owner.call('POST', '/workspaces/me/invitations', { email: bob.email, role: 'member' })
  await here.service.call('POST', '/invitations/accept', { token }, { authorization: `Bearer ${bob.token}` })
  const team = await owner.call('POST', '/teams', { name: 'Engineering', key: 'ENG' })
  return {
    url: here.service.url,
    workspaceId: id as string,
    owner,
    member: within(bob, id),
    team,
    async end() {
      await here.service.kill('SIGKILL')
      await remove()
    },
    async restart() {
      await here.service.kill('SIGKILL')
      here.service = start()
      await here.service.ready()
    },
    /** Delegates a new issue to the agent of that name, and returns its session. */
    async delegate(agentName: string, title = 'Mend the door') {
      const { data } = await owner.call('GET', '/agents?include_apps=true')
      const agent = data.find(({ display_name }: { display_name: string }) => display_name === agentName)
      const issue = await owner.call('POST', '/issues', { title, team_id: team.id, delegate_id: agent.id })
      const sessions = await owner.call('GET', `/agent-sessions?issue_id=${issue.id}`)
      return { issue, sessionId: sessions.data[0].id as string }
    },
    // biome-ignore lint/suspicious/noExplicitAny: as above
    async activities(sessionId: string): Promise<any[]> {
      return (await owner.call('GET', `/agent-sessions/${sessionId}/activities?limit=200`).catch(() => ({ data: [] })))
        .data
    },
    /** Waits until the session is in one of the states. */
    async inState(sessionId: string, ...states: string[]) {
      for (;;) {
        const session = await owner.call('GET', `/agent-sessions/${sessionId}`).catch(() => null)
        if (session && states.includes(session.state)) return session
        await sleep(50)
      }
    },
  }
}
export type RealService = Awaited<ReturnType<typeof realService>>
