// Prints operations as TypeScript. Supports the JSON schemas that the protocol uses and throws for others.

/** Returns the text of a declaration file: a type for each titled or named schema, and `Operations`. */
export function declarations(api, named) {
  const types = new Types()
  for (const [name, schema] of Object.entries(named)) types.add(name, schema)
  // The client sends JSON and reads whole responses, so it cannot call streams and uploads.
  const calls = Object.entries(api).filter(([, { route }]) => !route.stream && !route.raw)
  const operations = calls.map(([name, operation]) => types.operation(name, operation))
  return `${[...types.text.values()].join('\n')}
/** Input and result of every operation, by name, except streams and uploads. */
export interface Operations {
${operations.join('\n')}
}
`
}

class Types {
  text = new Map()
  /** The schema of each name, to detect two schemas with one name. */
  #schemas = new Map()
  #names = new Map()

  /** Prints a schema under a name, which replaces the schema wherever it occurs. */
  add(name, schema) {
    const key = JSON.stringify(schema)
    const known = this.#schemas.get(name)
    if (known !== undefined) {
      if (known !== key) throw new Error(`two schemas are named ${name}`)
      return
    }
    this.#schemas.set(name, key)
    this.text.set(name, '')
    const printed = this.#plain(schema)
    this.text.set(
      name,
      printed.startsWith('{') && !printed.includes('\n} |')
        ? `export interface ${name} ${printed}\n`
        : `export type ${name} = ${printed}\n`,
    )
    if (!('enum' in schema)) this.#names.set(key, name)
  }

  operation(name, { summary, route, query, body, returns, produces }) {
    const params = [...route.path.matchAll(/:(\w+)/g)].map(([, key]) => `${key}: string`)
    const answers = Object.entries(returns).filter(([status]) => Number(status) < 300)
    const answer = produces?.startsWith('image/')
      ? 'Uint8Array'
      : [...new Set(answers.map(([, schema]) => (schema ? this.of(schema) : 'undefined')))].join(' | ')
    return indent(
      [
        `/** ${summary} */`,
        `${name}: {`,
        indent(`params: ${params.length > 0 ? `{ ${params.join('; ')} }` : 'unknown'}`),
        indent(`query: ${query ? this.of(query) : 'unknown'}`),
        indent(`body: ${body ? this.of(body) : 'unknown'}`),
        indent(`answer: ${answer || 'never'}`),
        '}',
      ].join('\n'),
    )
  }

  of(schema) {
    const key = JSON.stringify(schema)
    const known = this.#names.get(key)
    if (known) return known
    if (schema.title) {
      this.add(schema.title, schema)
      return schema.title
    }
    return this.#plain(schema)
  }

  #plain(schema) {
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    if ('const' in schema) return JSON.stringify(schema.const)
    if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => this.of(one)))].join(' | ')
    switch (schema.type) {
      case 'string':
      case 'boolean':
      case 'null':
        return schema.type
      case 'integer':
      case 'number':
        return 'number'
      case 'array':
        return `Array<${this.of(schema.items)}>`
      case 'object':
        return this.#object(schema)
    }
    const beyond = Object.keys(schema).filter((key) => !key.startsWith('x-') && !['description', 'title'].includes(key))
    if (beyond.length > 0) throw new Error(`cannot print ${JSON.stringify(schema)}`)
    return 'unknown'
  }

  #object({ properties = {}, required = [], patternProperties, additionalProperties }) {
    if (patternProperties) return `Record<string, ${this.of(Object.values(patternProperties)[0])}>`
    const lines = Object.entries(properties).map(([key, schema]) => {
      const comment = schema.description ? `/** ${schema.description} */\n` : ''
      return indent(`${comment}${key}${required.includes(key) ? '' : '?'}: ${this.of(schema)}`)
    })
    if (additionalProperties === true) lines.push(indent('[key: string]: unknown'))
    return lines.length > 0 ? `{\n${lines.join('\n')}\n}` : '{}'
  }
}

const indent = (text) => text.replace(/^/gm, '  ')
