import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  key: string
  cert: string
}

/** A test certificate authority, for `names` such as DNS:localhost or IP:127.0.0.1. */
export class TestAuthority {
  readonly #dir = mkdtempSync(join(tmpdir(), 'baton-certificates-'))
  readonly #authority: Certificate
  #issued = 0

  constructor() {
    this.#authority = this.selfSigned('DNS:authority.test', 'basicConstraints=critical,CA:TRUE')
    writeFileSync(join(this.#dir, 'ca.key'), this.#authority.key)
    writeFileSync(join(this.#dir, 'ca.pem'), this.#authority.cert)
  }

  get ca() {
    return this.#authority.cert
  }

  selfSigned(names: string, ...extensions: string[]): Certificate {
    const { key, cert } = this.#files()
    const added = [`subjectAltName=${names}`, ...extensions].flatMap((extension) => ['-addext', extension])
    this.#openssl('req', '-x509', ...newKey, '-keyout', key, '-out', cert, '-days', '30', ...subject, ...added)
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  }

  /** A negative number of days creates an expired one. */
  issue(names: string, days = 30): Certificate {
    const { key, cert, request, extensions } = this.#files()
    writeFileSync(extensions, `subjectAltName=${names}`)
    this.#openssl('req', '-new', ...newKey, '-keyout', key, '-out', request, ...subject)
    const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', String(this.#issued)]
    this.#openssl(
      'x509',
      '-req',
      '-in',
      request,
      '-out',
      cert,
      '-days',
      String(days),
      '-extfile',
      extensions,
      ...signer,
    )
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  }

  remove() {
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #files() {
    const base = join(this.#dir, String(++this.#issued))
    return { key: `${base}.key`, cert: `${base}.pem`, request: `${base}.csr`, extensions: `${base}.txt` }
  }

  #openssl(...args: string[]) {
    execFileSync('openssl', args, { cwd: this.#dir, stdio: ['ignore', 'ignore', 'pipe'] })
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const subject = ['-subj', '/CN=test']
