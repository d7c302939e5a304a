import { expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { urlsOfHosts } from './database-url.ts'

test.each([
  ['postgres://baton@one/baton', ['postgres://baton@one/baton']],
  ['postgresql:///baton?host=/run/postgresql', ['postgresql:///baton?host=/run/postgresql']],
  [
    'postgres://u:p,q@r@one:5433,[::1]/baton?sslmode=verify-full',
    ['postgres://u:p,q@r@one:5433/baton?sslmode=verify-full', 'postgres://u:p,q@r@[::1]/baton?sslmode=verify-full'],
  ],
  ['postgres://a,b,c,d,e', ['postgres://a', 'postgres://b', 'postgres://c', 'postgres://d', 'postgres://e']],
  [
    'postgres://a,b/x?target_session_attrs=read-write',
    ['postgres://a/x?target_session_attrs=read-write', 'postgres://b/x?target_session_attrs=read-write'],
  ],
])('splits %s', verifies('ha.multi-host-url'), (url, urls) => {
  expect(urlsOfHosts(url)).toEqual(urls)
})

test('a refusal does not contain the password', verifies('ha.multi-host-url'), () => {
  expect(() => urlsOfHosts('postgres://u:hush@a,b,c,d,e,f/baton')).toThrow(/^must have at most 5 hosts, not 6$/)
})
