import type { RouteName } from '@baton/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { daily, onChanged, onCreated } from '../server/test/automations.ts'
import { hostileTexts } from './hostile.ts'
import { ref, sometimes } from './values.ts'

const someText = fc.constantFrom(...hostileTexts, 'Some text')
const automation = {
  name: fc.constantFrom('Daily', '<script>', '{{issue.title}}'),
  trigger: fc.constantFrom(
    ...[daily(), daily('0 9 * * *', 'Asia/Kolkata'), onCreated, onChanged],
    ...[daily('0 0 31 2 *'), daily('0 9 * * *', '../etc')],
  ),
  actions: fc.tuple(
    fc.oneof(
      fc.record({ type: fc.constant('create_issue'), title: someText }),
      fc.record({ type: fc.constant('comment'), text: someText }),
    ),
  ),
}
const connection = {
  name: fc.constantFrom('Shop', '<script>'),
  repositories: fc.constantFrom(['acme/shop'], ['acme/shop'], ['../../x']),
  token: fc.constantFrom('a token', '<script>'),
}
const suggestion = fc.record({
  field: fc.constant('priority'),
  value: fc.constantFrom('high', 'low', '<script>'),
  reason: someText,
})
const commit = 'c0ffee'.padEnd(40, '0')
const changedFile = fc.record({
  path: sometimes(40, fc.constantFrom('../../etc/passwd', '/etc/passwd', '<script>', 'a\0b'), 'src/a.ts'),
  old_path: fc.constant(null),
  status: fc.constantFrom('added', 'modified', 'deleted'),
  additions: sometimes<number | null>(10, fc.constantFrom(null, -1), 1),
  deletions: fc.constant(0),
  patch: fc.constantFrom('@@ -0,0 +1 @@\n+a\n', '<script>', null),
  omitted: fc.constant(null),
})
const sessionChanges = fc.record({
  repository: fc.constant('acme/shop'),
  remote_url: sometimes<string | null>(10, fc.constantFrom('javascript:1', 'https://a:b@example.com/'), null),
  base: fc.constant({ ref: 'main', commit }),
  head_commit: fc.constant(commit),
  branch: sometimes(10, fc.constantFrom('--upload-pack=x', 'a b'), 'fix'),
  pushed: fc.boolean(),
  ...{ files_total: fc.constant(1), additions: fc.constant(1), deletions: fc.constant(0) },
  files: fc.array(changedFile, { maxLength: 1 }),
})
const replay = fc.record(
  {
    since: fc.constantFrom(
      new Date(Date.now() - 3_600_000).toISOString(),
      '1900-01-01T00:00:00Z',
      '2999-12-31T23:59:59Z',
    ),
    dry_run: fc.boolean(),
  },
  { requiredKeys: ['since'] },
)

/** For operations that hardly ever accept a body made from their schema alone. Values that nearly fit still come from it. */
export const acceptedBodies: Partial<Record<RouteName, Arbitrary<unknown>>> = {
  createAutomation: fc.record({ team_id: ref('team'), ...automation }),
  updateAutomation: fc.record(automation, { requiredKeys: [] }),
  createGitConnection: fc.record({ kind: fc.constant('github'), ...connection }),
  updateGitConnection: fc.record(connection, { requiredKeys: [] }),
  suggestChanges: fc.record({ suggestions: fc.tuple(suggestion) }),
  decideSuggestions: fc.oneof(
    fc.record({ accept: fc.tuple(ref('sug')) }),
    fc.record({ decline: fc.tuple(ref('sug')) }),
  ),
  setSessionChanges: sessionChanges,
  updateInboxThread: fc.oneof(fc.record({ read: fc.boolean() }), fc.record({ archived: fc.boolean() })),
  startWebhookReplay: replay,
  startAppReplay: replay,
}
