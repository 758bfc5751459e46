// Who may use a canvas, a dataset or a memory: its project, whether it is open to the project, and
// the roles that were given on it.

import { useId, useRef, useState } from "react";
import { objectOf, Roles, roles, type Kind, type Project } from "../../run/roles.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useApp } from "../context.tsx";
import { Holders } from "./holders.tsx";
import { useSharingText } from "./text.ts";
import { shown } from "../../words/shown.ts";

/** ShareDialog is open while it is drawn; `onChanged` is called after a move or other sharing. */
export default function ShareDialog({ kind, id, name, onChanged, onClose }: {
  kind: Kind;
  id: string;
  name: string;
  onChanged?(): unknown;
  onClose(): void;
}): React.ReactNode {
  const s = useSharingText();
  const { host } = useApp();
  const [api] = useState(() => new Roles(host));
  const title = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const object = objectOf({ kind, id });
  const sharing = useLoaded(object, () => api.sharing(object));
  const projects = useLoaded("projects", () => api.projects());
  const attempt = useAttempt();
  const change = (act: () => Promise<unknown>): void =>
    void attempt.run(async () => {
      await sharing.after(act);
      await onChanged?.();
    });
  const [wanted, setWanted] = useState(false); // while the request runs
  const now = sharing.value;
  const isAdmin = now?.role === "admin";
  return (
    <dialog
      className="share-dialog" aria-labelledby={title} onClose={onClose}
      ref={(element) => {
        dialog.current = element;
        if (element && !element.open) element.showModal();
      }}
    >
      <h2 id={title}>{s("share_title", name)}</h2>
      <Fault text={attempt.fault ?? sharing.fault ?? projects.fault} />
      {now && projects.value && (
        <Move
          key={now.project} projects={projects.value} project={now.project} isAdmin={isAdmin} isBusy={attempt.busy}
          onMove={(to) => {
            setWanted(now.shared);
            change(() => api.move({ kind, id }, to));
          }}
        />
      )}
      {now && (
        <label className="field row">
          <input
            type="checkbox" checked={attempt.busy ? wanted : now.shared} disabled={!isAdmin || attempt.busy}
            onChange={({ target }) => {
              setWanted(target.checked);
              change(() => api.share({ kind, id }, target.checked));
            }}
          />
          {s("shared")}
        </label>
      )}
      {now && !now.shared && <p className="quiet small">{s("private_hint")}</p>}
      <h3>{s("who")}</h3>
      {kind === "memory" && <p className="quiet small">{s("memory_roles")}</p>}
      <Holders api={api} object={object} sharing={sharing} mayGive={kind !== "memory"} />
      <div className="tools end">
        <button type="button" onClick={() => dialog.current?.close()}>{s("close")}</button>
      </div>
    </dialog>
  );
}

/** targets are the projects in which a person may make objects. */
export function targets(projects: readonly Project[]): Project[] {
  return projects.filter(({ role }) => roles.indexOf(role) >= roles.indexOf("editor"));
}

function Move({ projects, project, isAdmin, isBusy, onMove }: {
  projects: readonly Project[];
  project: string;
  isAdmin: boolean;
  isBusy: boolean;
  onMove(to: string): void;
}): React.ReactNode {
  const s = useSharingText();
  const [to, setTo] = useState(project);
  const choices = targets(projects);
  const known = choices.some(({ id }) => id === project);
  return (
    <div className="give">
      <label className="field">
        {s("project")}
        <select value={to} disabled={!isAdmin || isBusy} onChange={({ target }) => setTo(target.value)}>
          {!known && (
            <option value={project}>{shown(projects.find(({ id }) => id === project)?.name ?? project)}</option>
          )}
          {choices.map(({ id, name }) => <option key={id} value={id}>{shown(name) || s("default_project")}</option>)}
        </select>
      </label>
      {to !== project && (
        <>
          <button type="button" disabled={isBusy} onClick={() => onMove(to)}>{s("move")}</button>
          <p className="quiet small">{s("move_hint")}</p>
        </>
      )}
    </div>
  );
}
