import { usageFailure } from '../arguments/usage-failure.ts'

const scripts: Readonly<Record<string, string>> = {
  bash: `# Add to ~/.bashrc: eval "$(waymark completion bash)"
_waymark() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(waymark __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _waymark waymark
`,
  zsh: `#compdef waymark
# Add to ~/.zshrc: eval "$(waymark completion zsh)"
_waymark() {
  local -a found
  found=("\${(@f)$(waymark __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _waymark waymark
`,
  fish: `# Save as ~/.config/fish/completions/waymark.fish
complete -c waymark -f -a '(waymark __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

/** What a shell must be told to complete our commands, flags, choices and ids. */
export function completionScript(shell: string | undefined): string {
  const script = shell !== undefined && Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script !== undefined) return script
  const wrong =
    shell === undefined ? 'completion needs the name of a shell.' : `There is no completion for ${shell}.`
  throw usageFailure(wrong, 'waymark completion bash, zsh or fish')
}
