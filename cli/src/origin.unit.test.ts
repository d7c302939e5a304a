import { expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { commandFor } from './origin.ts'

test.for([
  ['in a project', '/projects/my-agent/node_modules/.bin/baton', 'npx baton'],
  [
    'from the URL of an instance',
    '/home/ann/.npm/_npx/1f/node_modules/.bin/baton',
    'npx https://b.example/packages/cli.tgz',
  ],
  ['installed for all projects', '/usr/local/bin/baton', 'baton'],
  ['in a checkout', '/projects/baton/cli/bin/baton.mjs', 'npx baton'],
])('messages name the command as it was started %s', ([, startedAs = '', command]) => {
  expect(commandFor(startedAs, 'https://b.example')).toBe(command)
})

test('messages name the command alone if npx fetched it from a registry', verifies('package.no-bare-npx-baton'), () => {
  expect(commandFor('/home/ann/.npm/_npx/1f/node_modules/.bin/baton', null)).toBe('baton')
})
