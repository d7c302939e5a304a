import type { Page } from '@playwright/test'
import { expect, keyboardOnly, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'

const own = (page: Page) => page.getByRole('region', { name: 'Personal agents' })

/** Presses Shift+Tab until the button has the focus. */
async function tabTo(page: Page, name: string) {
  const there = page.getByRole('button', { name })
  for (let presses = 0; presses < 20; presses++) {
    if (await there.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Shift+Tab')
  }
  throw new Error(`${name} cannot be reached by Tab`)
}

test(
  'Baton finds a likely duplicate of a delegated issue and links both',
  verifies('agent.deployment-works-on-delegation', 'agent.deployment-finds-duplicates'),
  async ({ page, company }) => {
    const { api } = company.member
    const bug = { team_id: company.engineering.id, type: 'bug' as const }
    const older = await api.createIssue({ ...bug, title: 'Cart is empty after a lost connection' })
    const issue = await api.createIssue({
      ...bug,
      title: 'App loses the cart when offline',
      description: 'The cart was empty when the connection was lost.',
    })
    await signedIn(page, company.member)
    await page.goto(`/issue/${issue.code}`)
    await expect(page.getByRole('button', { name: 'Delegate: No agent' })).toBeVisible()
    await page.keyboard.press('d')
    await expect(page.getByRole('option', { name: 'Baton' })).toContainText('built in')
    await page.keyboard.type('bat')
    await page.keyboard.press('Enter')

    const session = page.getByRole('region', { name: 'Session of Baton' })
    const answer = session.getByRole('article', { name: 'Answer' }).last()
    await expect(answer).toContainText('Likely duplicate')
    await expect(session).toContainText('4 of 4')
    await expect(session).toContainText('Needs input')
    const choice = session.getByRole('group', { name: 'Choose one' })
    await expect(choice.getByRole('button')).toHaveCount(2)
    await expect
      .poll(async () => (await api.listInbox({})).data.map(({ kind }) => kind).filter((kind) => /^agent/.test(kind)))
      .toEqual(['agent_needs_you'])

    await page.keyboard.press('1')
    await expect(answer).toContainText('I linked both issues')
    await expect(choice).toHaveCount(0)
    const comment = page.getByRole('article', { name: 'Comment by Baton' })
    await expect(comment).toContainText(new RegExp(`Duplicate of \\w+: ${older.code} `))
    await session.getByRole('button', { name: /Show all activity/ }).click()
    await expect(session.getByRole('region', { name: 'Question' })).toContainText('Mona Member chose')

    // Links open without a page load.
    await page.evaluate(() => Object.assign(window, { still: true }))
    await comment.getByRole('link', { name: older.code }).click()
    await expect(page).toHaveURL(new RegExp(`/issue/${older.code}$`))
    await expect(comment).toContainText(`${issue.code} ${issue.title} is a duplicate of this issue`)
    expect(await page.evaluate(() => 'still' in window)).toBe(true)
  },
)

test(
  'creates, edits and deletes a personal agent by keyboard; other browsers update live',
  verifies('agent.personal-create', 'agent.personal-update', 'agent.personal-delete'),
  async ({ page, company, secondBrowser, faults }) => {
    const { member } = company
    const other = await secondBrowser(member)
    await other.setViewportSize(narrow)
    await other.goto('/agents')
    await expect(own(other)).toContainText('Write instructions and delegate issues')
    await signedIn(page, member)
    await page.goto('/agents')
    await expect(own(page)).toContainText('Ask your administrator')
    keyboardOnly(page)
    const { keyboard } = page
    await keyboard.press('n')
    await keyboard.press('a')
    await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused()
    await keyboard.type('Baton')
    faults.expect(/status of 422/)
    await keyboard.press('Control+Enter')
    await expect(page.getByRole('alert')).toHaveText('The name is the name of the built-in agent.')
    expect((await member.api.listPersonalAgents({})).data).toEqual([])

    await keyboard.press('Control+A')
    await keyboard.type('Scribe')
    await keyboard.press('Tab')
    await keyboard.type('Be brief.')
    await keyboard.press('Control+Enter')
    const row = own(page).getByRole('listitem')
    await expect(row).toContainText('ScribeBe brief.Needs a language model')
    await expect(own(other).getByRole('listitem')).toContainText('Be brief.')
    await expect(page.getByRole('dialog')).toHaveCount(0)

    await tabTo(page, 'Actions for Scribe')
    await keyboard.press('Enter')
    await expect(page.getByRole('menuitem', { name: 'Edit…' })).toBeFocused()
    await keyboard.press('Enter')
    await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused()
    await keyboard.press('Tab')
    await expect(page.getByRole('textbox', { name: 'Instructions' })).toHaveValue('Be brief.')
    await keyboard.press('Control+End')
    await keyboard.type(' And kind.')
    await keyboard.press('Control+Enter')
    await expect(own(other).getByRole('listitem')).toContainText('Be brief. And kind.')
    expect(await scrolledSideways(other)).toEqual([])

    await other.getByRole('button', { name: 'Actions for Scribe' }).click()
    await other.getByRole('menuitem', { name: 'Delete…' }).click()
    await expect(other.getByRole('dialog')).toContainText('Its sessions end')
    await other.getByRole('button', { name: 'Delete agent' }).click()
    for (const one of [page, other]) await expect(own(one).getByRole('listitem')).toHaveCount(0)
    expect((await member.api.listPersonalAgents({})).data).toEqual([])
  },
)

test(
  'a personal agent without a model fails; others see only its session; their number is limited',
  verifies('agent.personal-without-model', 'agent.personal-only-owner-delegates'),
  async ({ page, company, secondBrowser, faults }) => {
    const [issue] = company.issues
    await company.member.api.createPersonalAgent({ name: 'Scribe', instructions: 'Be brief.' })
    await signedIn(page, company.member)
    await page.goto(`/issue/${issue.code}`)
    await page.getByRole('button', { name: 'Delegate: No agent' }).click()
    await expect(page.getByRole('option', { name: 'Scribe' })).toContainText('yours')
    await page.getByRole('option', { name: 'Scribe' }).click()
    const session = page.getByRole('region', { name: 'Session of Scribe' })
    await expect(session.getByRole('article', { name: 'Failed' })).toContainText('I need a language model')
    await expect(session.getByRole('textbox', { name: 'Message to Scribe' })).toBeVisible()

    const owner = await secondBrowser(company.owner)
    await owner.goto(`/issue/${issue.code}`)
    const seen = owner.getByRole('region', { name: 'Session of Scribe' })
    await expect(seen).toContainText('Only Mona Member can write to this personal agent')
    await expect(seen.getByRole('textbox')).toHaveCount(0)
    await expect(seen.getByRole('button', { name: 'Stop' })).toHaveCount(0)
    await owner.getByRole('button', { name: 'Delegate: Mona Member’s agent' }).click()
    await expect(owner.getByRole('option', { name: 'Baton' })).toBeVisible()
    await expect(owner.getByRole('option', { name: 'Scribe' })).toHaveCount(0)
    await owner.goto('/agents')
    await expect(owner.getByRole('link', { name: /Mona Member’s agent.*Failed/ })).toBeVisible()
    await expect(own(owner).getByRole('link', { name: 'How to set one up' })).toBeVisible()

    const more = Array.from({ length: 19 }, (_, at) => ({ name: `Number ${at}`, instructions: '' }))
    await Promise.all(more.map((agent) => company.member.api.createPersonalAgent(agent)))
    await page.goto('/agents')
    await own(page).getByRole('button', { name: 'New' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('One too many')
    faults.expect(/status of 409/)
    await page.getByRole('button', { name: 'Create agent' }).click()
    await expect(page.getByRole('alert')).toContainText('You already have 20 personal agents')
    expect((await company.member.api.listPersonalAgents({})).data).toHaveLength(20)
  },
)
