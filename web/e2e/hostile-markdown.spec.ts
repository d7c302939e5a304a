import { expect, signedIn, test } from './baton.ts'
import { expectHarmless, recordSideEffects } from './harmless.ts'

const foreign = 'foreign.example.net'

/** Attacks in Markdown. Each would leave a trace that the tests look for. */
const hostile = (forgedId: string, unknownId: string) => `
<script>window.ran = 'script'</script>
<img src="https://${foreign}/pixel.png" onerror="window.ran = 'onerror'">
<iframe src="https://${foreign}/frame"></iframe><svg onload="window.ran = 'svg'"><style>body{display:none}</style>
<a href="javascript:window.ran='html link'" id="html-link">html link</a>

[script link](javascript:window.ran='link') [spaced](java%0ascript:window.ran='spaced') [data link](data:text/html,<script>alert(1)</script>)
<javascript:window.ran='auto'>

![a picture](https://${foreign}/picture.png) ![data picture](data:image/svg+xml;base64,PHN2Zy8+) ![ref][ref]

[ref]: https://${foreign}/by-reference.png "title"

[https://bank.example.com/${foreign}](https://${foreign}/login) [//slashes](//${foreign}/x)

@[The Owner of Everything](${forgedId}) and @[Nobody Known](${unknownId}) and [not a mention](${forgedId})

- [x] done item
`
const nested = `${'> '.repeat(500)}deep\n\n${'- '.repeat(500)}deep\n\n${'*_'.repeat(3000)}\n\n${'['.repeat(5000)}`

test('hostile Markdown in a description and comment is harmless, and links show their host', async ({
  page,
  company,
  service,
}) => {
  const { api } = company.owner
  const [door] = company.issues
  const text = hostile(company.member.id, 'usr_00000000000000000000000000')
  await api.updateIssue({ issue_id: door.id, description: text })
  await api.createComment({ target_type: 'issue', target_id: door.id, text })
  const seen = recordSideEffects(page, service.url)
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  const comment = page.getByRole('article', { name: 'Comment by Olive Owner' })
  for (const place of [page.getByRole('region', { name: 'Description' }), comment]) {
    // A mention shows the name of the id, not the name in the text.
    await expect(place.getByText('@Mona Member')).toBeVisible()
    await expect(place).not.toContainText('The Owner of Everything')
    await expect(place.getByText('@Nobody Known')).toBeVisible()
    await expect(place.getByRole('link', { name: 'not a mention' })).toHaveCount(0)
    await expect(place.getByRole('link', { name: `https://bank.example.com/${foreign} (${foreign})` })).toBeVisible()
    await expect(place.getByRole('link', { name: `a picture (${foreign})` })).toBeVisible()
    await expect(place.getByRole('link', { name: `//slashes (${foreign})` })).toHaveAttribute('rel', /noreferrer/)
    await expect(place.getByRole('link', { name: /script link|data link|html link|spaced/ })).toHaveCount(0)
    await expect(place.getByText('Done: done item')).toBeVisible()
  }
  await expectHarmless(page, seen)
  await comment.getByText('script link').click()
  await comment.getByText('data link').click()
  await expectHarmless(page, seen)
})

test('shows a text that is too expensive to render as plain text', async ({ page, company }) => {
  const [door] = company.issues
  await company.owner.api.updateIssue({ issue_id: door.id, description: nested })
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await expect(page.getByRole('region', { name: 'Description' })).toContainText('deep')
  await expect(page.getByRole('textbox', { name: 'Comment', exact: true })).toBeVisible()
})

test('hostile Markdown of an agent is harmless', async ({ page, company, agent, service }) => {
  const [door] = company.issues
  const robot = await agent()
  await company.owner.api.updateIssue({ issue_id: door.id, delegate_id: robot.userId })
  const session = await robot.session()
  const seen = recordSideEffects(page, service.url)
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await session.respond(`The end.\n\n${hostile(company.member.id, 'usr_00000000000000000000000000')}`)
  await expect(page.getByText('@Mona Member').first()).toBeVisible()
  await expectHarmless(page, seen)
})
