"""How Sphinx makes the site: no fonts, scripts or styles of other hosts."""

project = "Permafrost"
html_title = "Permafrost"
root_doc = "index"
extensions = ["myst_parser", "sphinx_copybutton"]
# links go to headings as they do where the repository is looked at
myst_heading_anchors = 4
# a block that names no language has none
highlight_language = "none"
html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
# of a block of a terminal only what is typed is copied
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
