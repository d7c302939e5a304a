import type { AppScope } from '@baton/protocol'
import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { test, verifies } from '../../test/harness.ts'
import { id, lacking, type Robot, refused, type Scene, reachScene as scene } from '../../test/reach.ts'

describe('scopes', () => {
  /** Calls by the narrowest scope that allows them. */
  const calls = ({ issues, projects, team }: Scene, comment: string) => {
    const target = { target_type: 'issue', target_id: issues.covered, text: 'Hello' }
    return {
      read: [
        ['GET', '/issues'],
        ['GET', `/issues/${issues.covered}`],
        ['GET', '/projects'],
        ['GET', `/projects/${projects.covered}`],
        ['GET', `/comments?target_type=issue&target_id=${issues.covered}`],
        ['GET', '/teams'],
        ['GET', '/labels'],
        ['GET', '/workspaces/me/members'],
      ],
      'issues:create': [['POST', '/issues', { title: 'A bug', team_id: team }]],
      'comments:create': [
        ['POST', '/comments', target],
        ['POST', '/comments', { ...target, parent_comment_id: comment }],
      ],
      write: [
        ['PUT', `/issues/${issues.covered}`, { title: 'Changed' }],
        ['PUT', `/projects/${projects.covered}`, { title: 'Changed' }],
        ['PUT', `/comments/${comment}`, { is_resolved: true }],
        ['POST', '/labels', { name: 'Red' }],
        ['POST', '/projects', { title: 'A plan', team_ids: [team] }],
        ['DELETE', `/comments/${comment}`],
        ['DELETE', `/projects/${projects.covered}`],
        ['DELETE', `/issues/${issues.covered}`],
      ],
    } as Record<string, [string, string, object?][]>
  }

  const cases: { scopes: AppScope[]; grants: string[]; shows: RequirementId[] }[] = [
    { scopes: ['read'], grants: ['read'], shows: ['scope.read-refuses-writing', 'scope.narrowest-named'] },
    { scopes: [], grants: ['read'], shows: ['scope.empty-grant-is-read'] },
    {
      scopes: ['write'],
      grants: ['issues:create', 'comments:create', 'write'],
      shows: [
        'scope.write-implies-issues-create',
        'scope.write-implies-comments-create',
        'scope.write-does-not-imply-read',
      ],
    },
    {
      scopes: ['issues:create'],
      grants: ['issues:create'],
      shows: ['scope.issues-create-allows-post-issues', 'scope.issues-create-nothing-else'],
    },
    {
      scopes: ['comments:create'],
      grants: ['comments:create'],
      shows: ['scope.comments-create-allows-post-comments', 'scope.comments-create-nothing-else'],
    },
    { scopes: ['app:assignable', 'app:mentionable'], grants: [], shows: ['scope.no-scope-routes'] },
    {
      scopes: ['issues:create', 'comments:create', 'app:assignable', 'app:mentionable'],
      grants: ['issues:create', 'comments:create'],
      shows: [
        'scope.reading-needs-read',
        'scope.change-without-write-refused',
        'scope.insufficient-scope-names-scope',
        'scope.insufficient-scope-header',
      ],
    },
  ]

  for (const { scopes, grants, shows } of cases) {
    test(
      `${scopes.join(', ') || 'no scope'} allows ${grants.join(', ') || 'nothing'}`,
      verifies(...shows),
      async ({ app }) => {
        const all = await scene(app)
        const robot = await app.installed(all.owner, { scopes, teamIds: [all.team] })
        const target = { target_type: 'issue', target_id: all.issues.covered }
        const comment = await id(robotOrMember(all, robot, grants).post('/comments', { ...target, text: 'Hello' }))
        const needed = calls(all, comment)
        await app.unchanged(async () => {
          for (const [required, list] of Object.entries(needed).filter(([scope]) => !grants.includes(scope))) {
            for (const [method, path, body] of list) {
              const answer = await robot.request(method, path, body)
              expect(answer, `${method} ${path}`).toMatchObject(lacking(required))
              expect(answer.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"')
            }
          }
        })
        for (const [method, path, body] of grants.flatMap((scope) => needed[scope] ?? [])) {
          const { status, body: answer } = await robot.request(method, path, body)
          expect(status, `${method} ${path} ${JSON.stringify(answer)}`).toBeLessThan(300)
        }
        for (const path of ['/auth/me', '/workspaces/me', '/teams/select']) {
          expect((await robot.get(path)).status).toBe(200)
        }
      },
    )
  }

  /** Only authors can delete a comment, so this is the app's own comment if it can write one. */
  const robotOrMember = ({ member }: Scene, robot: Robot, grants: string[]) =>
    grants.includes('comments:create') ? robot : member

  test(
    'a scope removed from the manifest is removed from tokens',
    verifies('scope.removed-from-manifest'),
    async ({ app }) => {
      const { owner, issues, team } = await scene(app)
      const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team] })
      const change = () => robot.put(`/issues/${issues.covered}`, { title: 'Changed' })
      const ask = async (scopes: string[]) => {
        const { status } = await owner.put(`/agent-apps/${robot.app.id}`, {
          schemaVersion: '1.0.0',
          name: robot.app.name,
          developer: { name: 'Robots Inc' },
          oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes },
        })
        expect(status).toBe(200)
      }
      expect((await change()).status).toBe(200)
      await ask(['read'])
      await refused(app, { write: [change, lacking('write')] })
      expect((await robot.get('/issues')).status).toBe(200)
      await ask([])
      await refused(app, { read: [() => robot.get('/issues'), lacking('read')], write: [change, lacking('write')] })
      expect((await robot.get('/auth/me')).status).toBe(200)
    },
  )
})
