import { expect, test } from 'vitest'
import { isPastedList, pastedIssues } from './pasted-issues.ts'

test.for([
  ['a list', '- One\n- Two', [{ title: 'One' }, { title: 'Two' }]],
  [
    'other markers and nesting',
    '* One\n  + Two\n1. Three\n2) Four',
    ['One', 'Two', 'Three', 'Four'].map((title) => ({ title })),
  ],
  ['tasks', '- [ ] Open\n- [x] Closed', [{ title: 'Open' }, { title: 'Closed', status: 'done' }]],
  ['headings and notes around a list', '# Plan\n\nFirst:\n- One\n\n- Two\nEnd', [{ title: 'One' }, { title: 'Two' }]],
  ['plain lines', 'One\r\n\r\nTwo  words', [{ title: 'One' }, { title: 'Two words' }]],
  [
    'CSV with a column title',
    'Title,Description,Priority,Status,Type,Other\n"One, and",Text,High,in_progress,bug,x\nTwo,,unknown,,,\n,No title,,,,',
    [
      { title: 'One, and', description: 'Text', priority: 'high', status: 'in_progress', type: 'bug' },
      { title: 'Two' },
    ],
  ],
  ['a long title', `- ${'x'.repeat(300)}\n- Two`, [{ title: 'x'.repeat(255) }, { title: 'Two' }]],
  ['a dash that is not a marker', '-One\n--\n- Two', [{ title: 'Two' }]],
] as const)('reads %s', ([, text, issues]) => expect(pastedIssues(text)).toEqual(issues))

test.for([
  ['One title', false],
  ['- One', false],
  ['\n\n', false],
  ['One\nTwo', true],
] as const)('%j is a list: %s', ([text, is]) => expect(isPastedList(text)).toBe(is))
