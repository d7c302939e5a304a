/** The token of a link by mail: in the fragment, which browsers send to no server. */
export const linkToken = () => new URLSearchParams(location.hash.slice(1)).get('token') ?? ''

/** The same words for links that were used, were replaced or have expired: the service does not tell them apart. */
export const invalidLink = (lifetime: string) => ({
  title: 'This link no longer works',
  hint: `It was used, was replaced by a newer one, or is older than ${lifetime}.`,
})
