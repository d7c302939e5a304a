import { expect, test } from 'vitest'
import { standardSecret } from './standard-secret.ts'

// The test of the SDK expects the same.
test('the standard form is whsec_ and the Base64 of the whole secret', () => {
  expect(standardSecret('pwhsec_5f1c2d3e4b6a79808f9e')).toBe('whsec_cHdoc2VjXzVmMWMyZDNlNGI2YTc5ODA4Zjll')
})
