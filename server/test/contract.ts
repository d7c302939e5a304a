import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Described {
  responses?: Record<string, { content?: Record<string, unknown> }>
}

interface Document {
  paths: Record<string, { servers?: unknown } & Record<string, Described>>
}

export interface Exchange {
  method: string
  /** Below {root_url}. */
  path: string
  status: number
  headers: Headers
  body: unknown
}

/** Validates every response in every test against the server's OpenAPI document. */
export class Contract {
  readonly #paths: { pattern: RegExp; path: string; methods: Document['paths'][string] }[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: Document) {
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(document, 'openapi')
    this.#paths = Object.entries(document.paths)
      // Fixed segments before parameters, as in the router.
      .sort(([a], [b]) => a.split('{').length - b.split('{').length)
      .map(([path, methods]) => {
        const base = methods.servers ? '' : '/api/v1'
        return { path, methods, pattern: new RegExp(`^${base}${path.replace(/\{\w+\}/g, '[^/]+')}$`) }
      })
  }

  check({ method, path, status, headers, body }: Exchange) {
    const fail = (why: string) => {
      throw new Error(`${method} ${path} answered ${status}, ${why}: ${JSON.stringify(body)}`)
    }
    if (!headers.get('x-request-id')) fail('without X-Request-Id')
    const known = this.#paths.find(({ pattern }) => pattern.test(path.split('?')[0] ?? ''))
    const operation = known?.methods[method.toLowerCase()]
    if (!known || !operation) return this.#matches('openapi#/components/schemas/Error', body, fail)

    const declared = operation.responses?.[status]
    if (!declared) return fail('which is not declared')
    const mediaTypes = Object.keys(declared.content ?? {})
    if (mediaTypes.length === 0) return body === undefined ? undefined : fail('with a body that is not declared')
    const mediaType = mediaTypes.find((type) => headers.get('content-type')?.startsWith(type.replace('*', '')))
    if (!mediaType) return fail(`which is not ${mediaTypes.join(' or ')}`)
    const pointer = ['paths', known.path, method.toLowerCase(), 'responses', status, 'content', mediaType, 'schema']
    this.#matches(`openapi#/${pointer.map(pointerPart).join('/')}`, body, fail)
  }

  #matches($ref: string, body: unknown, fail: (why: string) => void) {
    let validate = this.#validators.get($ref)
    if (!validate) {
      validate = this.#ajv.compile({ $ref })
      this.#validators.set($ref, validate)
    }
    if (!validate(body)) fail(`not as described (${this.#ajv.errorsText(validate.errors)})`)
  }
}

const pointerPart = (part: string | number) =>
  encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))
