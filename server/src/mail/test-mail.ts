import type { Composers } from './compose.ts'

export const testMails: Composers = {
  test: async ({ config }) => ({
    subject: 'Test mail from Baton',
    paragraphs: ['Mail from your Baton instance works.'],
    action: { label: 'Open Baton', url: `${config.rootUrl}/` },
    footer: [`A manager of a workspace sent this test from ${config.rootUrl}`],
  }),
}
