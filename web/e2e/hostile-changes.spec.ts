import { expect, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'
import { changedSession, changesOf, fileIn, fileOf, viewer } from './changes.ts'
import { expectHarmless, recordSideEffects } from './harmless.ts'

const markup = `"><img src=x onerror="window.ran=1"><script>window.ran=2</script><svg onload=window.ran=3>`
const links = 'https://foreign.example.net/x javascript:window.ran=4 [a](https://foreign.example.net) @[Ada](usr_1)'
const bidi = '/*\u202E } \u2066if (isAdmin)\u2069 \u2066 begin*/'
const terminal = '\u001b[31mred\u0007\u009b1m'
const hidden = 'a\u200Bb\uFEFFc\u{E0041}d\u00ADe'

const lines = [markup, links, bidi, terminal, hidden, `${'a\u0300'.repeat(300)}`, 'x'.repeat(20_000)]
const name = `src/${markup.replaceAll('/', '|')}\u202Egnp.ts`

const files = [
  fileOf(
    name,
    lines.map((line) => `+${line}`),
  ),
  fileOf('javascript:window.ran=5', ['+1'], { status: 'renamed', old_path: 'https://foreign.example.net/old' }),
  // A patch of another file than it says, with counts that would hide its end.
  fileOf('harmless.txt', [], {
    patch:
      'diff --git a/harmless.txt b/.ssh/keys\n--- a/harmless.txt\n+++ b/.ssh/keys\n@@ -1 +1 @@\n-a\n+b\n+left over\n',
  }),
  fileOf('no-patch.txt', [], { patch: `${markup}\n${bidi}` }),
  fileOf('line\nbreak.txt', ['+1']),
  fileOf('__proto__/constructor', ['+1']),
]

for (const size of ['wide', 'narrow'] as const) {
  test.describe(size, () => {
    if (size === 'narrow') test.use({ viewport: narrow })

    test(
      'hostile paths and patches are visible text and do nothing',
      verifies('changes.viewer-hostile-content'),
      async ({ page, company, agent, service }) => {
        const robot = await agent({ name: 'Fixer' })
        const { path, session } = await changedSession(company, robot, changesOf(files, { repository: markup }))
        const seen = recordSideEffects(page, service.url)
        await signedIn(page, company.owner)
        await page.goto(path)
        const first = fileIn(page, name.replace('\u202E', '<U+202E>'))
        await expect(first).toContainText(markup)
        await expect(first).toContainText('/*U+202E } U+2066if (isAdmin)U+2069 U+2066 begin*/')
        await expect(first).toContainText('U+001B[31mredU+0007U+009B1m')
        await expect(first).toContainText('aU+200BbU+FEFFcU+E0041dU+00ADe')
        // Lines are rendered when they come near.
        for (const [file, ...texts] of [
          ['harmless.txt', '+++ b/.ssh/keys', '+left over'],
          ['no-patch.txt', markup],
          ['line<U+000A>break.txt', 'line'],
          ['__proto__/constructor', 'constructor'],
        ] as const) {
          await fileIn(page, file).scrollIntoViewIfNeeded()
          for (const text of texts) await expect(fileIn(page, file)).toContainText(text)
        }
        // No text of the page has a character that reorders it or cannot be seen.
        const text = await page.locator('main').innerText()
        expect(text.replace(/[\n\t]/g, '')).not.toMatch(/\p{Bidi_Control}|\p{Cc}|[\u200b\ufeff\u{e0041}]/u)
        expect(await viewer(page).getByRole('link').count()).toBe(0)
        expect(await scrolledSideways(page)).toEqual([])

        // The quoted path stays code in the message.
        await first.scrollIntoViewIfNeeded()
        await first.getByRole('button', { name: 'Quote line 1', exact: true }).click()
        const box = page.getByLabel('Message to Fixer')
        await expect(box).toHaveValue(/^`src\/.*<U\+202E>gnp\.ts:1` $/)
        await box.press('Enter')
        await robot.prompt()
        await page.goto(`/agent-session/${session.id}`)
        await expect(page.getByText('gnp.ts:1')).toBeVisible()
        await expectHarmless(page, seen)
      },
    )
  })
}
