// Network namespaces as machines, on a bridge that this process is connected to as well. Needs root.
import { execFileSync } from 'node:child_process'

const sh = (command) =>
  execFileSync('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })

/** For benchmarks of networks (RFC 2544), so that it is not in use. */
const prefixOf = (number) => `198.18.${number}`

export class Network {
  #id = process.pid % 250
  #machines

  /** One machine for each name, with the addresses .1, .2, … This process has .254. */
  constructor(names) {
    this.#machines = new Map(names.map((name, index) => [name, { index, pair: `bf${this.#id}-${index}` }]))
    process.once('exit', () => this.remove())
    this.remove()
    sh(`ip link add ${this.#bridge} type bridge && ip address add ${this.prefix}.254/24 dev ${this.#bridge}`)
    sh(`ip link set ${this.#bridge} up`)
    for (const [name, { pair }] of this.#machines) {
      const space = this.spaceOf(name)
      sh(`ip netns add ${space} && ip link add ${pair} type veth peer name eth0 netns ${space}`)
      sh(`ip link set ${pair} master ${this.#bridge} up`)
      sh(`ip -n ${space} address add ${this.addressOf(name)}/24 dev eth0`)
      sh(`ip -n ${space} link set eth0 up && ip -n ${space} link set lo up`)
    }
  }

  get #bridge() {
    return `bf${this.#id}`
  }

  /** The first three bytes of all addresses. */
  get prefix() {
    return prefixOf(this.#id)
  }

  addressOf(name) {
    return `${this.prefix}.${this.#machines.get(name).index + 1}`
  }

  spaceOf(name) {
    return `bf${this.#id}-${name}`
  }

  /** Drops everything between the machine and others, or only the machines `peers`, without notice to any of them. */
  cutOff(name, peers) {
    const others = peers?.map((peer) => this.addressOf(peer)).join(', ')
    const [from, to] = others
      ? [`ip saddr { ${others} }`, `ip daddr { ${others} }`]
      : ['iifname != "lo"', 'oifname != "lo"']
    const rules = `table inet fault {
      chain in { type filter hook input priority 0; ${from} drop; }
      chain out { type filter hook output priority 0; ${to} drop; }
    }`
    execFileSync('ip', ['netns', 'exec', this.spaceOf(name), 'nft', '-f', '-'], { input: rules })
  }

  reconnect(name) {
    sh(`ip netns exec ${this.spaceOf(name)} nft delete table inet fault 2>/dev/null || true`)
  }

  /** Ends all processes on the machine, as when its power fails. */
  killAll(name) {
    for (let tries = 0; tries < 50; tries++) {
      const pids = sh(`ip netns pids ${this.spaceOf(name)} 2>/dev/null || true`)
        .split('\n')
        .filter(Boolean)
      if (pids.length === 0) return
      for (const pid of pids) {
        try {
          process.kill(Number(pid), 'SIGKILL')
        } catch {
          // It has ended meanwhile.
        }
      }
    }
  }

  remove() {
    for (const name of this.#machines.keys()) {
      this.killAll(name)
      sh(`ip netns delete ${this.spaceOf(name)} 2>/dev/null || true`)
    }
    sh(`ip link delete ${this.#bridge} 2>/dev/null || true`)
  }
}
