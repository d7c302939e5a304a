/** The minimal manifest that can be registered. */
export const minimal = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  webhook: { url: 'https://robots.example.com/hook' },
}
