/** The code of the issue that an address leads to, if it does. */
export const issueCodeOf = ({ url }: { url: string }) => /\/issue\/([^/?#]+)/.exec(url)?.[1]
