import { expect, test } from 'vitest'
import { amountOf, costText, microsOf } from './amounts.ts'

test('shows costs with two digits, small ones with more', () => {
  expect(costText(4_500_000, 'USD')).toBe('4.50 USD')
  expect(costText(1_234_567_890, 'EUR')).toBe('1,234.57 EUR')
  expect(costText(420, 'USD')).toBe('0.00042 USD')
  expect(costText(0, 'USD')).toBe('0.00 USD')
})

test('reads typed amounts exactly', () => {
  expect(microsOf('4.5')).toBe(4_500_000)
  expect(microsOf(' 0,000001 ')).toBe(1)
  expect(microsOf('123456789.123456')).toBe(123_456_789_123_456)
  for (const text of ['', '-1', '1e3', '.5', '1.2345678', '1 000', 'ten']) expect(microsOf(text)).toBeNull()
  for (const text of ['4.5', '0.01', '12']) expect(amountOf(microsOf(text) ?? 0)).toBe(text)
})
