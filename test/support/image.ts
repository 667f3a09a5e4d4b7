/** The last stage of the Dockerfile without Docker: bubblewrap gives its steps the files of the image. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'

/** Root, because the steps make a user and give it a folder. */
export const lacksSandbox = process.getuid?.() !== 0 || spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status !== 0

const ACCOUNTS = ['passwd', 'group', 'shadow', 'gshadow', 'login.defs', 'nsswitch.conf']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

interface Stage {
  env: Record<string, string>
  run: string
  user: string
  workdir: string
  command: string[]
  healthCheck: string[]
}

/** The instructions of the last stage that this reads. Throws if one is missing. */
export function lastStage(dockerfile: string): Stage {
  const text = dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')).replaceAll(/\\\n\s*/g, '')
  const rest = (name: string) => {
    const [, words] = new RegExp(`^${name} (.*)$`, 'm').exec(text) ?? []
    if (words === undefined) throw new Error(`the last stage has no ${name}`)
    return words
  }
  const list = (name: string) => JSON.parse(rest(name)) as string[]
  return {
    env: Object.fromEntries(
      rest('ENV')
        .split(' ')
        .map((pair) => pair.split('=') as [string, string]),
    ),
    run: rest('RUN'),
    user: rest('USER'),
    workdir: rest('WORKDIR'),
    command: [...list('ENTRYPOINT'), ...list('CMD')],
    healthCheck: JSON.parse(rest('HEALTHCHECK').replace(/^.*? ?CMD /, '')) as string[],
  }
}

/** An image in a folder: what its steps may change is there, the rest is of this machine. */
export function imageIn(folder: string, { installed, stage }: { installed: string; stage: Stage }) {
  const part = (name: string) => join(folder, name)
  for (const name of ['etc', 'bin', 'lib']) mkdirSync(part(name), { recursive: true })
  for (const name of ACCOUNTS.filter((each) => existsSync(`/etc/${each}`))) {
    copyFileSync(`/etc/${name}`, join(part('etc'), name))
  }
  const system = [
    ...['--ro-bind', '/usr', '/usr', '--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', '/tmp'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['/opt', '/var'].flatMap((name) => ['--perms', '0755', '--dir', name]),
    ...['--ro-bind', installed, '/opt/svc', '--die-with-parent', '--clearenv', '--setenv', 'PATH', PATH],
  ]
  const places = (option: string) => [
    ...[option, part('etc'), '/etc', option, part('bin'), '/usr/local/bin', option, part('lib'), '/var/lib'],
    ...['--ro-bind', process.execPath, '/usr/local/bin/node'],
  ]
  const settings = (env: Record<string, string>) =>
    Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])
  const [uid = '', gid = ''] = stage.user.split(':')
  const asUser = ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs']
  return {
    /** The volume, as this machine sees it. */
    volume: join(part('lib'), 'svc'),
    /** Runs a line of a shell as root, with the image writable. */
    step: (line: string) => execa('bwrap', [...system, ...places('--bind'), 'sh', '-ec', line]),
    /** Runs a command as the user of the image, which is read-only except for the volume. */
    container: (command: string[], env: Record<string, string> = {}) =>
      execa(
        'bwrap',
        [
          ...[...system, ...places('--ro-bind'), '--bind', join(part('lib'), 'svc'), '/var/lib/svc'],
          ...['--remount-ro', '/', ...settings({ ...stage.env, ...env }), '--chdir', stage.workdir],
          ...[...asUser, ...command],
        ],
        { reject: false },
      ),
  }
}
