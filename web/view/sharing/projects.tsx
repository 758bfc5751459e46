// The projects of a tenant: made, renamed, deleted, with who has a role in them and what they hold.

import { useState } from "react";
import { objectOf, Roles, type Project } from "../../run/roles.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useApp } from "../context.tsx";
import { Adder, Field, textOf, Waiting } from "../settings/parts.tsx";
import { Contents } from "./contents.tsx";
import { targets } from "./dialog.tsx";
import { Holders } from "./holders.tsx";
import { useSharingText } from "./text.ts";
import { shown } from "../../words/shown.ts";

/** ProjectsSection lists the projects in which the person has a role. */
export default function ProjectsSection({ mayCreate }: { mayCreate: boolean }): React.ReactNode {
  const s = useSharingText();
  const { host } = useApp();
  const [api] = useState(() => new Roles(host));
  const loaded = useLoaded("projects", () => api.projects());
  const { value, after } = loaded;
  if (!value) return <Waiting loaded={loaded} />;
  return (
    <>
      <p className="quiet">{s("projects_hint")}</p>
      <ul className="entries settings-list" aria-label={s("project")}>
        {value.map((project) => (
          <ProjectRow key={project.id} api={api} project={project} projects={value} after={after} />
        ))}
      </ul>
      {mayCreate && (
        <Adder
          label={s("add")} submit={s("create")}
          onSubmit={(values) => after(() => api.create(textOf(values, "name")))}
        >
          <Field label={s("name")} name="name" required maxLength={100} />
        </Adder>
      )}
    </>
  );
}

function ProjectRow({ api, project, projects, after }: {
  api: Roles;
  project: Project;
  projects: readonly Project[];
  after<R>(act: () => Promise<R>): Promise<R>;
}): React.ReactNode {
  const s = useSharingText();
  const { id, role } = project;
  const name = project.name || s("default_project");
  const changes = role === "admin" && id !== "";
  return (
    <li>
      <div className="what">
        <b>{shown(name)}</b>
        <small>{s("your_role", s(`role_${role}`))}</small>
        <Opened label={s("contents")} of={name}>
          <Contents api={api} project={project} projects={projects} />
        </Opened>
        <Opened label={s("members")} of={name}>
          <Members api={api} project={project} />
        </Opened>
        {changes && (
          <Adder
            label={s("rename")} submit={s("save")}
            onSubmit={(values) => after(() => api.rename(id, textOf(values, "name")))}
          >
            <Field label={s("name")} name="name" required maxLength={100} defaultValue={project.name} />
          </Adder>
        )}
        {changes && (
          <Opened label={s("remove")} of={name}>
            <Removal api={api} project={project} projects={projects} after={after} />
          </Opened>
        )}
      </div>
    </li>
  );
}

// Opened loads its content once it is opened.
function Opened({ label, of, children }: { label: string; of: string; children: React.ReactNode }): React.ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="adder" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={`${label}: ${shown(of)}`}>{label}</summary>
      {isOpen && children}
    </details>
  );
}

function Members({ api, project }: { api: Roles; project: Project }): React.ReactNode {
  const object = objectOf({ kind: "project", id: project.id });
  const sharing = useLoaded(object, () => api.sharing(object));
  return <Holders api={api} object={object} sharing={sharing} mayGive />;
}

// Removal shows what a deletion moves and ends.
function Removal({ api, project, projects, after }: {
  api: Roles;
  project: Project;
  projects: readonly Project[];
  after<R>(act: () => Promise<R>): Promise<R>;
}): React.ReactNode {
  const s = useSharingText();
  const loaded = useLoaded(project.id, () => api.holding(project.id));
  const attempt = useAttempt();
  const others = targets(projects).filter(({ id }) => id !== project.id);
  const [to, setTo] = useState(others[0]?.id ?? "");
  if (!loaded.value) return <Waiting loaded={loaded} />;
  const { holds, grants, keys } = loaded.value;
  const { canvases, datasets, memories, secrets } = holds;
  const isEmpty = canvases + datasets + memories + secrets === 0;
  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt.run(() => after(() => api.remove(project.id, to)));
      }}
    >
      <p>{isEmpty ? s("remove_empty") : s("remove_holds", canvases, datasets, memories, secrets)}</p>
      <p>{s("remove_lost", grants, keys)}</p>
      {!isEmpty && (
        <label className="field">
          {s("remove_to")}
          <select value={to} onChange={({ target }) => setTo(target.value)}>
            {others.map(({ id, name }) => <option key={id} value={id}>{shown(name) || s("default_project")}</option>)}
          </select>
        </label>
      )}
      <Fault text={attempt.fault} />
      <button type="submit" className="danger" disabled={attempt.busy}>
        {s("remove_open", project.name)}
      </button>
    </form>
  );
}
