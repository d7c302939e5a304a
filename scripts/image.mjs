// Builds the image of deploy/Containerfile without network, on a base of Debian's packages and the Node that runs this, and
// runs it. Everything is in directories of its own; no other image or container of the machine is touched.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { debianProgram } from './debian.mjs'
import { root, StepFailed, step } from './setup.mjs'

const run = promisify(execFile)
const kept = join(root, 'node_modules', '.cache', 'image')
const manifests = /(^|\/)(package\.json|package-lock\.json|\.npmrc)$/

export class ImageEngine {
  #dir = mkdtempSync(join(tmpdir(), 'baton-image-'))
  #tools

  static async open() {
    if (process.getuid?.() !== 0) throw new StepFailed('images are built and run by root')
    const names = ['buildah', 'podman', 'runc', 'debootstrap']
    const found = []
    for (const name of names) found.push(await debianProgram(name))
    if (found.includes(undefined)) throw new StepFailed(`this needs Debian's packages ${names.join(', ')}`)
    return new ImageEngine(Object.fromEntries(names.map((name, index) => [name, found[index]])))
  }

  constructor(tools) {
    this.#tools = tools
  }

  get #storage() {
    return ['--root', join(this.#dir, 'root'), '--runroot', join(this.#dir, 'run'), '--storage-driver', 'vfs']
  }

  async buildah(...args) {
    return this.#buildah([this.#tools.buildah], args)
  }

  async #buildah([command, ...first], args) {
    const { stdout } = await run(command, [...first, ...this.#storage, ...args], { cwd: root, maxBuffer: 2 ** 26 })
    return stdout.trim()
  }

  async podman(...args) {
    const engine = ['--runtime', this.#tools.runc, '--cgroup-manager', 'cgroupfs', '--events-backend', 'none']
    return run(this.#tools.podman, [...this.#storage, ...engine, ...args], { maxBuffer: 2 ** 26 })
  }

  /** Two images: `base`, which has Node only, and `build-base`, which also has npm and the certificates of this machine. */
  async makeBases() {
    const tar = await debian(this.#tools.debootstrap)
    const npm = dirname(dirname(realpathSync((await run('sh', ['-c', 'command -v npm'])).stdout.trim())))
    const context = join(this.#dir, 'context')
    mkdirSync(context)
    cpSync(tar, join(context, 'debian.tar'))
    cpSync(process.execPath, join(context, 'node'))
    cpSync(npm, join(context, 'npm'), { recursive: true })
    cpSync('/etc/ssl/certs/ca-certificates.crt', join(context, 'ca-certificates.crt'))
    const base = 'FROM scratch\nADD debian.tar /\nCOPY node /usr/local/bin/node\n'
    const buildBase = `FROM localhost/base
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
`
    for (const [name, text] of Object.entries({ base, 'build-base': buildBase })) {
      writeFileSync(join(context, 'Containerfile'), text)
      await this.buildah('build', '--isolation', 'chroot', '--pull-never', '-t', `localhost/${name}`, context)
    }
    rmSync(context, { recursive: true })
  }

  /** In a network namespace without interfaces: what the build needs is in a cache of npm that was filled before. */
  async build(name, buildArgs) {
    const npmrc = join(this.#dir, 'npmrc')
    writeFileSync(npmrc, `registry=${(await run('npm', ['config', 'get', 'registry'])).stdout.trim()}\n`)
    const given = { BASE: 'localhost/base', BUILD_BASE: 'localhost/build-base', ...buildArgs }
    const args = Object.entries(given).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`])
    return this.#buildah(
      ['unshare', '--net', this.#tools.buildah],
      [
        ...['build', '--isolation', 'chroot', '--pull-never', '--format', 'docker', '--timestamp', '1', ...args],
        ...['--secret', `id=npmrc,src=${npmrc}`, '--volume', `${await filledNpmCache()}:/root/.npm`],
        ...['-f', 'deploy/Containerfile', '-t', `localhost/${name}`, '.'],
      ],
    )
  }

  async inspect(name) {
    return JSON.parse(await this.buildah('inspect', '--type', 'image', `localhost/${name}`))
  }

  /** Mounts the file system of an image while `work` reads it. */
  async withFiles(name, work) {
    const container = await this.buildah('from', '--pull-never', `localhost/${name}`)
    try {
      return await work(await this.buildah('mount', container))
    } finally {
      await this.buildah('rm', container)
    }
  }

  async close() {
    await this.podman('rm', '--all', '--force', '--time', '0').catch(() => {})
    await this.buildah('rm', '--all').catch(() => {})
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

/** Debian's smallest system, from the mirror that apt uses here. */
async function debian(debootstrap) {
  const file = join(kept, `debian-${process.arch}.tar`)
  if (existsSync(file)) return file
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  const format = '$(REPO_URI)|$(CODENAME)|$(LABEL)'
  const { stdout } = await run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'])
  const [mirror] =
    stdout
      .split('\n')
      .find((line) => line.endsWith(`|${codename}|Debian`))
      ?.split('|') ?? []
  if (!mirror) throw new StepFailed(`apt has no mirror of Debian ${codename}`)
  const dir = mkdtempSync(join(tmpdir(), 'baton-debian-'))
  try {
    await step(`Making a base of Debian ${codename}`, debootstrap, ['--variant=minbase', codename, dir, mirror])
    for (const path of ['var/cache/apt', 'var/lib/apt/lists', 'var/log']) rmSync(join(dir, path), { recursive: true })
    mkdirSync(kept, { recursive: true })
    await run('tar', ['-C', dir, '-cf', `${file}.part`, '.'])
    await run('mv', [`${file}.part`, file])
    return file
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

let filling

/** npm's cache with everything in the lockfile. */
function filledNpmCache() {
  filling ??= fillNpmCache()
  return filling
}

async function fillNpmCache() {
  const cache = join(kept, 'npm')
  const stamp = join(cache, 'filled-for')
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return cache
  const dir = mkdtempSync(join(tmpdir(), 'baton-npm-'))
  try {
    const { stdout } = await run('git', ['ls-files'], { cwd: root })
    for (const file of stdout.split('\n').filter((name) => manifests.test(name))) {
      cpSync(join(root, file), join(dir, file))
    }
    const args = ['ci', '--prefix', dir, '--cache', cache, '--prefer-offline', '--ignore-scripts']
    await step("Filling npm's cache", 'npm', args)
    writeFileSync(stamp, lock)
    return cache
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
