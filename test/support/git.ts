/** Git in a folder of a test, as nobody in particular. */
import { execa } from 'execa'

export const gitIn =
  (cwd: string) =>
  (...args: string[]) =>
    execa('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false', ...args], {
      cwd,
    })
