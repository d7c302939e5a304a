import { expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { cleanName, disposition } from './name.ts'

test('names lose separators, control and bidirectional characters', verifies('file.name-cleaned'), () => {
  for (const [name, clean] of [
    ['door.png', 'door.png'],
    ['../../etc/passwd', '....etcpasswd'],
    ['C:\\Users\\a.png', 'C:Usersa.png'],
    ['a\r\nSet-Cookie: x.png', 'aSet-Cookie: x.png'],
    ['invoice\u202egnp.exe', 'invoicegnp.exe'],
    ['\u2066a\u2069\u200f.png', 'a.png'],
    ['\0', 'file'],
    ['..', 'file'],
    ['  ', 'file'],
    ['Fünf Äpfel 日本.png', 'Fünf Äpfel 日本.png'],
  ] as const) {
    expect(cleanName(name)).toBe(clean)
  }
})

test('the header is correct for quotes and other languages', verifies('file.name-cleaned'), () => {
  expect(disposition(true, 'a.png')).toBe(`inline; filename="a.png"; filename*=UTF-8''a.png`)
  expect(disposition(false, 'say "hi" \\ 100%.txt')).toBe(
    `attachment; filename="say _hi_ _ 100_.txt"; filename*=UTF-8''say%20%22hi%22%20%5C%20100%25.txt`,
  )
  expect(disposition(false, "Äpfel (1)'s*.pdf")).toBe(
    `attachment; filename="_pfel (1)'s*.pdf"; filename*=UTF-8''%C3%84pfel%20%281%29%27s%2A.pdf`,
  )
})
