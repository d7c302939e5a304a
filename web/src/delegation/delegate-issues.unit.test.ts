import { expect, test } from 'vitest'
import { fakeBrowser, issueNumber, Refusal } from '../../test/fake-browser.ts'

const agent = { id: 'usr_agent', name: 'Robot' }

test('names only the delegated issue when another one is refused', async () => {
  const browser = fakeBrowser()
  browser.on('PUT /issues/iss_1', () => new Refusal(422, 'DELEGATE_UNAVAILABLE'))
  browser.on('PUT /issues/iss_2', () => issueNumber(2, { delegate_id: agent.id }))
  const { delegateIssues } = await import('./delegate-issues.ts')
  const { toasts } = await import('../ui/toast.tsx')

  await delegateIssues({ issues: [issueNumber(1), issueNumber(2)], agent, me: 'usr_me', askAssignee: () => {} })

  const [done, refused] = toasts.get()
  expect(done?.text).toContain('ENG-2')
  expect(done?.text).not.toContain('ENG-1')
  expect(refused).toMatchObject({ tone: 'bad', text: expect.stringContaining('1 of 2') })
})
