import { expect, test } from 'vitest'
import { addressesIn } from './addresses.ts'

test('finds addresses between commas, semicolons, spaces and lines', () => {
  expect(addressesIn(' a@x.com, b@x.com;c@x.com\nd@x.com e@x.com\r\n\tf@x.com ,,')).toEqual(
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}@x.com`),
  )
  expect(addressesIn(' \n ')).toEqual([])
})

test('takes the address of "Name <address>"', () => {
  expect(addressesIn('Ada Lovelace <ada@x.com>, Grace <grace@x.com>\nalan@x.com')).toEqual([
    'ada@x.com',
    'grace@x.com',
    'alan@x.com',
  ])
})

test('keeps the first of equal addresses in any letter case, and what is not an address', () => {
  expect(addressesIn('Ada@x.com ada@X.com not-an-address')).toEqual(['Ada@x.com', 'not-an-address'])
})
