import { checkAxe, expect, signedIn, test } from './baton.ts'

// Nothing listens there.
test.use({ settings: { BATON_MODEL_URL: 'http://127.0.0.1:1/v1', BATON_MODEL: 'small-1' } })

test('managers see which model there is and how it answers; members see neither', async ({
  page,
  company,
  secondBrowser,
}) => {
  const { owner, member } = company
  const scribe = await owner.api.createPersonalAgent({ name: 'Scribe', instructions: '' })
  await signedIn(page, owner)
  await page.goto('/agents')
  const model = page.getByRole('region', { name: 'Language model' })
  await expect(model).toContainText('small-1 at 127.0.0.1:1Has not been asked yet')
  const own = page.getByRole('region', { name: 'Your own agents' })
  await expect(own.getByRole('listitem')).toContainText('ScribeNo instructions yetTakes your work')
  await expect(page.getByText('this instance has none yet')).toHaveCount(0)

  const [issue] = company.issues
  await owner.api.updateIssue({ issue_id: issue.id, delegate_id: scribe.id })
  await page.getByRole('link', { name: /Scribe.*The door sticks/ }).click()
  await expect(page.getByText('The language model could not be reached. I ask it again.')).toBeVisible()
  await page.goto('/agents')
  await expect(model).toContainText('Fails: could not be reached')
  await checkAxe(page)

  const theirs = await secondBrowser(member)
  await theirs.goto(page.url())
  await expect(theirs.getByRole('region', { name: 'Your own agents' })).toContainText('reaches what you reach')
  await expect(theirs.getByRole('region', { name: 'Language model' })).toHaveCount(0)
})
