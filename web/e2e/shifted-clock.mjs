// Loaded into a service by `node --import`: its clock is moved by TEST_CLOCK_SHIFT milliseconds.
const now = () => performance.timeOrigin + performance.now() + Number(process.env.TEST_CLOCK_SHIFT)

// Not a subclass: the dates that another thread sends are of the class itself.
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, name) => (name === 'now' ? () => Math.floor(now()) : Reflect.get(target, name)),
})
