import { test as base, type Page } from '@playwright/test'
import type { RequirementId } from '../../conformance/ids.ts'
import { Receiver } from '../../server/test/receiver.ts'
import { SmtpServer } from '../../server/test/smtp.ts'
import { type AgentOptions, ExampleAgent, ScriptedAgent } from './agents.ts'
import { type Company, createCompany, type Person, signedIn } from './company.ts'
import { Faults } from './faults.ts'
import { type Service, type Settings, withService } from './service.ts'

export { expect } from '@playwright/test'
export { checkAxe } from './accessibility.ts'
export { installUrl, type ScriptedAgent } from './agents.ts'
export { type Company, type Person, signedIn, signUp } from './company.ts'
export { keyboardOnly, tabTo } from './keyboard.ts'
export { nothingListens, shortTimeouts } from './service.ts'
export { narrow, scrolledSideways, wide } from './viewports.ts'

interface TestFixtures {
  company: Company
  faults: Faults
  /** Registers an agent as the company's owner, installs it and runs it in this process. */
  agent: (options?: AgentOptions) => Promise<ScriptedAgent>
  /** The same, not installed. */
  registeredAgent: (options?: AgentOptions) => Promise<ScriptedAgent>
  example: (name: 'echo' | 'triage', teamIds?: string[]) => Promise<ExampleAgent>
  receiver: () => Promise<Receiver>
  secondBrowser: (person?: Person) => Promise<Page>
}

interface WorkerFixtures {
  settings: Settings
  /** Whether the service sends mail, to `smtp`. */
  mail: boolean
  smtp: SmtpServer
  service: Service
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  settings: [{}, { scope: 'worker', option: true }],

  mail: [false, { scope: 'worker', option: true }],

  smtp: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const smtp = await SmtpServer.start()
      await use(smtp)
      await smtp.stop()
    },
    { scope: 'worker' },
  ],

  service: [
    ({ settings, mail, smtp }, use) => withService({ ...(mail ? smtp.env : {}), ...settings }, use),
    { scope: 'worker', timeout: 90_000 },
  ],

  baseURL: ({ service }, use) => use(service.url),

  faults: [
    async ({ context }, use) => {
      const faults = new Faults()
      await faults.watch(context)
      await use(faults)
      faults.check()
    },
    { auto: true },
  ],

  company: async ({ service }, use) => use(await createCompany(service.url)),

  registeredAgent: async ({ company }, use) => {
    const agents: ScriptedAgent[] = []
    await use(async (options) => {
      const agent = await ScriptedAgent.register(company.owner, options)
      agents.push(agent)
      return agent
    })
    await Promise.all(agents.map((agent) => agent.close()))
    base
      .expect(
        agents.flatMap((agent) => agent.errors),
        'errors in the agents',
      )
      .toEqual([])
  },

  agent: async ({ company, registeredAgent }, use) => {
    await use(async (options) => {
      const agent = await registeredAgent(options)
      await agent.install(company.owner, options?.teamIds)
      return agent
    })
  },

  example: async ({ company }, use) => {
    const running: ExampleAgent[] = []
    await use(async (name, teamIds) => {
      const agent = await ExampleAgent.start(company.owner, name, teamIds)
      running.push(agent)
      return agent
    })
    await Promise.all(running.map((agent) => agent.close()))
  },

  // biome-ignore lint/correctness/noEmptyPattern: as above
  receiver: async ({}, use) => {
    const receivers: Receiver[] = []
    await use(async () => {
      const receiver = await Receiver.start()
      receivers.push(receiver)
      return receiver
    })
    await Promise.all(receivers.map((receiver) => receiver.stop()))
  },

  secondBrowser: async ({ browser, faults }, use) => {
    const contexts: Awaited<ReturnType<typeof browser.newContext>>[] = []
    await use(async (person) => {
      const context = await browser.newContext()
      contexts.push(context)
      await faults.watch(context)
      const page = await context.newPage()
      if (person) await signedIn(page, person, { ownLogin: true })
      return page
    })
    await Promise.all(contexts.map((context) => context.close()))
  },
})

/** test('…', verifies('oauth.consent-page-content'), …): the test verifies these requirements. */
export const verifies = (...ids: RequirementId[]) => ({
  annotation: ids.map((id) => ({ type: 'verifies', description: id })),
})
