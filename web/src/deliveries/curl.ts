const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The same request as a curl command, byte for byte, so that its signature stays valid. */
export const curlOf = (url: string, { headers, body }: { headers: Record<string, string>; body: string }) =>
  [
    `curl -i ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ')
