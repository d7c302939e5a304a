import { expect, signedIn, test } from './baton.ts'
import { composer, menu, property, rowOf, toast } from './parts.ts'

test('a private issue offers its owner alone as assignee, invites no mentions, and has a lock in lists', async ({
  page,
  company,
  faults,
}) => {
  const { owner, issues } = company
  const issue = await owner.api.createIssue({ title: 'Plan the party', personal: true })
  await signedIn(page, owner)
  await page.goto(`/issue/${issue.code}`)
  await property(page, 'Assignee').click()
  await expect(menu(page).getByRole('option')).toHaveText(['No assignee', /Olive Owner/])
  await menu(page).getByRole('option', { name: 'Olive Owner' }).click()
  await expect(property(page, 'Assignee')).toContainText('Olive Owner')
  await expect(composer(page)).toHaveAttribute('placeholder', 'Add a comment. Only you see this issue.')
  const mentionable = page.waitForResponse(/\/users\/select/)
  await composer(page).fill('@')
  await mentionable
  await composer(page).pressSequentially('mo')
  await expect(composer(page)).toHaveValue('@mo')
  await expect(page.getByRole('listbox', { name: 'Mention' })).toHaveCount(0)
  await composer(page).fill('')

  // Before the page load, which could abort the request.
  await expect.poll(async () => (await owner.api.getIssue({ issue_id: issue.id })).assignee_id).toBe(owner.id)
  await page.goto('/issues')
  await expect(rowOf(page, issue.title).getByTitle('Private')).toBeVisible()
  await expect(rowOf(page, issues[0].title).getByTitle('Private')).toHaveCount(0)
  // Several issues have one menu with all members; the refusal is in the words of the app.
  faults.expect(/status of 422/)
  for (const { title } of [issue, issues[0]]) await rowOf(page, title).getByRole('checkbox').click()
  await page.keyboard.press('a')
  await menu(page).getByRole('option', { name: 'Mona Member' }).click()
  await expect(toast(page, '1 of 2 were not changed')).toContainText('Assignee must be you on a private issue.')
  expect(await owner.api.getIssue({ issue_id: issue.id })).toMatchObject({ assignee_id: owner.id })

  await page.goto('/issues?layout=board')
  await expect(page.getByRole('listitem').filter({ hasText: issue.title }).getByTitle('Private')).toBeVisible()
})
