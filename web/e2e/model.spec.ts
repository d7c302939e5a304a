import { expect, nothingListens, signedIn, test } from './baton.ts'

test.use({ settings: nothingListens })

test('managers see the model and its health; members do not', async ({ page, company, secondBrowser }) => {
  const { owner, member } = company
  const scribe = await owner.api.createPersonalAgent({ name: 'Scribe', instructions: '' })
  await signedIn(page, owner)
  await page.goto('/agents')
  const model = page.getByRole('region', { name: 'Language model' })
  await expect(model).toContainText('small-1 at 127.0.0.1:1Not used yet')
  const own = page.getByRole('region', { name: 'Personal agents' })
  await expect(own.getByRole('listitem')).toContainText('ScribeNo instructions yetAvailable')
  await expect(page.getByText('This instance has none')).toHaveCount(0)

  const [issue] = company.issues
  await owner.api.updateIssue({ issue_id: issue.id, delegate_id: scribe.id })
  await page.getByRole('link', { name: /Scribe.*The door sticks/ }).click()
  await expect(page.getByText('The language model could not be reached. Retrying.')).toBeVisible()
  await page.goto('/agents')
  await expect(model).toContainText('Failing: could not be reached')

  const theirs = await secondBrowser(member)
  await theirs.goto(page.url())
  await expect(theirs.getByRole('region', { name: 'Personal agents' })).toContainText('has your access')
  await expect(theirs.getByRole('region', { name: 'Language model' })).toHaveCount(0)
})
