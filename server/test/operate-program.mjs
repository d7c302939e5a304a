// What `npm run operate` runs, on what the compiler wrote. A file, because threads of the database inherit the flags of
// a program that is given with --eval.
import { operate } from '../dist/operate/operate.js'

process.exitCode = await operate(process.argv.slice(2), process.env)
