import {
  type Company,
  checkAxe,
  expect,
  narrow,
  type ScriptedAgent,
  scrolledSideways,
  signedIn,
  test,
  verifies,
} from './baton.ts'
import { menu } from './parts.ts'

const usd = (cost: number) => ({ cost_micros: cost * 1e6, currency: 'USD' })
const noBudget = {
  currency: null,
  session_cost_micros: null,
  month_cost_micros: null,
  session_tokens: null,
  month_tokens: null,
}

/** A session of the first issue that has reported tokens and a cost. */
async function usingSession(company: Company, robot: ScriptedAgent) {
  const [door] = company.issues
  await company.owner.api.updateIssue({ issue_id: door.id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.respond('Done.')
  const report = (usage: object) => session.client.updateAgentSession({ session_id: session.id, usage })
  await report({ model: 'small-1', input_tokens: 12_000, output_tokens: 345, ...usd(4.5) })
  return { session, door, report }
}

test(
  'usage is shown with the session and by month, as reported by the agent',
  verifies('usage.shown'),
  async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const { session, door, report } = await usingSession(company, robot)
    await signedIn(page, company.member)
    await page.goto(`/issue/${door.code}`)
    const card = page.getByRole('region', { name: 'Session of Fixer' })
    await expect(card).toContainText('small-1 · 12,000 tokens in, 345 out · 4.50 USD reported by the agent')
    await report({ input_tokens: 20_000, ...usd(5) })
    await expect(card).toContainText('20,000 tokens in, 345 out · 5.00 USD')
    await page.goto(`/agent-session/${session.id}`)
    await expect(page.getByText('20,000 tokens in, 345 out · 5.00 USD')).toBeVisible()

    // A member sees totals and budget, and cannot edit it.
    await company.owner.api.setAppBudget({ app_id: robot.registered.app.id, ...noBudget, month_tokens: 1e6 })
    await page.goto(`/settings/agent-apps/${robot.registered.app.id}`)
    await expect(page.getByText('Reported by the agent.')).toBeVisible()
    await expect(page.getByRole('row').last()).toContainText(/20,000\s*345\s*5.00 USD/)
    await expect(page.getByText('1,000,000 tokens')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Edit budget' })).toHaveCount(0)
    await checkAxe(page)
  },
)

test(
  'at its limit, the composer says why and who can raise it; a manager raises it',
  verifies('usage.shown'),
  async ({ page, company, agent, secondBrowser, faults }) => {
    const robot = await agent({ name: 'Fixer' })
    const { door } = await usingSession(company, robot)
    const appPage = `/settings/agent-apps/${robot.registered.app.id}`
    const member = await secondBrowser(company.member)
    await member.goto(`/issue/${door.code}`)
    const card = member.getByRole('region', { name: 'Session of Fixer' })
    await expect(card.getByLabel('Message to Fixer')).toBeVisible()

    await signedIn(page, company.owner)
    await page.goto(appPage)
    await page.getByRole('button', { name: 'Edit budget' }).click()
    await page.getByLabel('Cost per session').fill('4,5 USD')
    await expect(page.getByText('Cost per session must be an amount such as 20 or 4.50.')).toBeVisible()
    await page.getByLabel('Cost per session').fill('4.5')
    // A cost needs a currency.
    faults.expect(/status of 422/)
    await page.getByRole('button', { name: 'Save budget' }).click()
    await expect(page.getByRole('alert')).toContainText(/^Currency/)
    await page.getByLabel('Currency').fill('USD')
    await page.getByRole('button', { name: 'Save budget' }).click()
    await expect(page.getByText('4.50 USD', { exact: true })).toBeVisible()

    await expect(card).toContainText('This session has reached its budget: 4.50 of 4.50 USD.')
    await expect(card).toContainText(`${company.admin.name} or ${company.owner.name} can raise it.`)
    await expect(card.getByLabel('Message to Fixer')).toHaveCount(0)

    await page.goto(`/issue/${door.code}`)
    await page.getByRole('link', { name: 'Change budget' }).click()
    await page.getByRole('button', { name: 'Edit budget' }).click()
    await page.getByLabel('Cost per session').fill('10')
    await page.getByRole('button', { name: 'Save budget' }).click()
    await expect(card.getByLabel('Message to Fixer')).toBeVisible()
  },
)

test(
  'a reached month refuses new work and is in the inbox of managers',
  verifies('usage.shown'),
  async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const { id } = robot.registered.app
    await company.owner.api.setAppBudget({ app_id: id, ...noBudget, month_tokens: 10_000 })
    const { session } = await usingSession(company, robot)
    await signedIn(page, company.owner)
    await page.goto('/inbox')
    await page.getByRole('link', { name: /Fixer reached its budget/ }).click()
    await expect(page).toHaveURL(new RegExp(`/settings/agent-apps/${id}#budget$`))
    await expect(page.getByText('This month’s budget is reached')).toBeVisible()
    await page.goto(`/agent-session/${session.id}`)
    await expect(page.getByText('Fixer has reached its budget for this month: 12,345 of 10,000 tokens.')).toBeVisible()
    await page.goto(`/issue/${company.issues[1].code}`)
    await page
      .getByRole('button', { name: /^Delegate/ })
      .first()
      .click()
    await expect(menu(page).getByRole('option', { name: /Fixer/ })).toContainText('Reached its monthly budget')
    await expect(menu(page).getByRole('link', { name: 'Raise its budget' })).toBeVisible()
    expect((await company.owner.api.getIssue({ issue_id: company.issues[1].id })).delegate_id).toBeNull()
  },
)

test.describe('on a narrow screen', () => {
  test.use({ viewport: narrow })

  test('usage and budget fit', verifies('usage.shown'), async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    await usingSession(company, robot)
    await signedIn(page, company.owner)
    await page.goto(`/settings/agent-apps/${robot.registered.app.id}`)
    await page.getByRole('button', { name: 'Edit budget' }).click()
    await expect(page.getByLabel('Currency')).toBeVisible()
    expect((await scrolledSideways(page)).filter((element) => !element.includes('<table'))).toEqual([])
  })
})
