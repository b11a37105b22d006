"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""


# Terminal or literal -> its kind, one character.
KINDS = {
'VERSION': 'I', 'TARGET': 'J', 'ADDRESS_SIZE': 'K', 'FILE': 'L', 'LOC': 'M', 'LOC_INTERMEDIATE': 'N',
'PRAGMA': 'O', 'ALIAS': 'P', 'SECTION': 'Q', 'SOURCES_SECTION': 'R', 'CODE_BLOCK': 'S',
'METADATA_SECTION': 'T', 'METADATA_DOMAIN': 'U', 'METADATA': 'V', 'ENTRY': 'W', 'FUNC': 'X',
'CALLPROTOTYPE': 'Y', 'TARGETS': 'Z', 'ENTRY_FLAG': 'a', 'ENTRY_NUMBER': 'b', 'ENTRY_EXTENT': 'c',
'FUNC_FLAG': 'd', 'FUNC_NUMBER': 'e', 'LANGUAGE': 'f', 'HIDDEN': 'g', 'LINKAGE': 'h', 'SPACE': 'i',
'TYPE': 'j', 'VECTOR': 'k', 'ALIGN': 'l', 'PTR': 'm', 'ATTRIBUTE': 'n', 'SINGLE': 'o', 'FLOAT': 'p',
'INTEGER': 'q', 'STRING': 'r', 'WARP_SZ': 's', 'CALL': 't', 'GENERIC': 'u', 'FUNCTION_NAME': 'v',
'SINK': 'w', 'INLINED_AT': 'x', 'QUALIFIED': 'y', 'DOTTED': 'z', 'NAME': '0', 'IR_NAME': '1',
'SOURCE_FILE_NAME': '2', 'SOURCE': '3', 'WORD': '4', '!=': 'A', '&&': 'B', '<<': 'C', '<=': 'D', '==': 'E',
'>=': 'F', '>>': 'G', '||': 'H', '!': '!', '%': '%', '&': '&', '(': '(', ')': ')', '*': '*', '+': '+',
',': ',', '-': '-', '/': '/', ':': ':', ';': ';', '<': '<', '=': '=', '>': '>', '?': '?', '@': '@',
'[': '[', ']': ']', '^': '^', '{': '{', '|': '|', '}': '}', '~': '~'}

# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.
KEYWORDS = {
'.version': 'I', '.target': 'J', '.address_size': 'K', '.file': 'L', '.loc': 'M', '.loc_intermediate': 'N',
'.pragma': 'O', '.alias': 'P', '.section': 'Q', '.nv_intermediate_source_section': 'R', '.code_block': 'S',
'.metadata_section': 'T', '.metadata_domain': 'U', '.metadata': 'V', '.entry': 'W', '.func': 'X',
'.callprototype': 'Y', '.branchtargets': 'Z', '.calltargets': 'Z', '.explicitcluster': 'a',
'.blocksareclusters': 'a', '.maxnreg': 'b', '.minnctapersm': 'b', '.maxnctapersm': 'b',
'.maxclusterrank': 'b', '.minperctamemory': 'b', '.maxntid': 'c', '.reqntid': 'c',
'.reqnctapercluster': 'c', '.noreturn': 'd', '.abi_preserve': 'e', '.abi_preserve_control': 'e',
'.language': 'f', '.hidden': 'g', '.extern': 'h', '.visible': 'h', '.weak': 'h', '.common': 'h',
'.reg': 'i', '.const': 'i', '.global': 'i', '.local': 'i', '.param': 'i', '.shared': 'i', '.tex': 'i',
'.b8': 'j', '.b16': 'j', '.b32': 'j', '.b64': 'j', '.b128': 'j', '.s8': 'j', '.s16': 'j', '.s32': 'j',
'.s64': 'j', '.u8': 'j', '.u16': 'j', '.u32': 'j', '.u64': 'j', '.f16': 'j', '.f16x2': 'j', '.f32': 'j',
'.f64': 'j', '.bf16': 'j', '.bf16x2': 'j', '.tf32': 'j', '.s16x2': 'j', '.u16x2': 'j', '.pred': 'j',
'.texref': 'j', '.samplerref': 'j', '.surfref': 'j', '.v2': 'k', '.v4': 'k', '.v8': 'k', '.align': 'l',
'.ptr': 'm', '.attribute': 'n', 'WARP_SZ': 's', 'generic': 'u', 'function_name': 'v', '_': 'w',
'inlined_at': 'x'}

# Terminal -> regular expression, in the order in which they are tried; literals come after.
PATTERNS = {'SINGLE': '0[fF][\\da-fA-F]{8}(?![\\w$.])',
 'FLOAT': '(?:(?:\\d+\\.\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+|0[dD][\\da-fA-F]{16})(?![\\w$.])',
 'INTEGER': '(?:0[xX][\\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\\d*)U?(?![\\w$.])',
 'STRING': '"[^"\n]*"|"[^"\n;]*\n[^"]*"',
 'CALL': 'call(?:\\.[\\w$]+(?:::[\\w$]+)*)*(?![\\w$])',
 'QUALIFIED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)\\.[\\w$]+(?![\\w$.]|::)',
 'DOTTED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)(?:\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*)+',
 'NAME': '[A-Za-z][\\w$]*|[_$%][\\w$]+|_',
 'IR_NAME': '\\.ir_name:',
 'SOURCE_FILE_NAME': '\\.sourceFileName:',
 'SOURCE': '\\.source_begin[ \t]*\n(?:[^\n]*\n)*?[ \t]*\\.source_end(?=[ \t]*\n)',
 'WORD': '\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*'}
LITERALS = ('!=', '&&', '<<', '<=', '==', '>=', '>>', '||', '!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~')

# A rule a line: its name, and of each alternative the method (`-` if spliced, `?` if a lone
# child stands for it) and the length. Alternatives are numbered from the first line on.
RULES = """\
___opcode_star_15 -:2 -:1
__address_star_17 -:3 -:3 -:2 -:2
__attributes_star_9 -:3 -:2
__declarator_star_10 -:2 -:1
__entry_directive_star_6 -:3 -:2
__function_header_star_2 -:2 -:1
__function_header_star_3 -:2 -:1
__initializer_star_11 -:3 -:2
__instruction_star_14 -:3 -:2
__metadata_fields_plus_13 -:3 -:2
__parameter_star_5 -:2 -:1
__parameters_star_4 -:3 -:2
__pragma_star_1 -:3 -:2
__section_line_star_12 -:3 -:2
__statement_star_7 -:3 -:2
__target_star_0 -:3 -:2
__variable_star_8 -:3 -:2
__vector_star_16 -:3 -:2
_index -:1 -:1
_inlined -:8
_modifier -:1 -:1 -:1 -:1 -:1
_name -:1 -:1 -:1 -:1
_opcode -:2 -:1 -:2 -:1 -:2 -:1
_section_type -:1 -:1
_specifier -:1 -:1 -:1 -:1
address address:5 address:4 address:4 address:3
alignment alignment:2
arguments arguments:4 arguments:3 arguments:2
attribute attribute:6 attribute:1
attributes attributes:5 attributes:4
base base?:1 base?:1 offset:3 offset:3
bit_and bit_and?:1 binary:3
bit_or bit_or?:1 binary:3
bit_xor bit_xor?:1 binary:3
body body:3
call call:11 call:9 call:9 call:7 call:9 call:7 call:7 call:5 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:9 call:7 call:7 call:5 call:7 call:5 call:5 call:3
close close:1
code_block code_block:8
code_blocks code_blocks:2 code_blocks:0
conditional conditional?:1 conditional:5
constant constant?:1 constant?:1
count count:3 count:3
debug_name name:1 name:1
debug_symbol debug_symbol?:1 binary:3
declarator declarator:4 declarator:2 declarator:5 declarator:3 declarator:6 declarator:4 declarator:5 declarator:3 declarator:4 declarator:2 declarator:5 declarator:3 declarator:4 declarator:2 declarator:3 declarator:1
dimension dimension:3 dimension:3
element element?:1 field:3
end end:1
entry_directive entry_directive?:1 directive:6 directive:4 directive:2 directive:1 directive:2 directive:3 directive:2
equality equality?:1 binary:3 binary:3
expression expression?:1
func_directive directive:1 directive:2 directive:3 directive:2
function function:2 function:2
function_header function_header:3 function_header:4 function_header:3 function_header:2 function_header:3 function_header:4 function_header:3 function_header:2 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:6 function_header:7 function_header:6 function_header:5 function_header:5 function_header:6 function_header:5 function_header:4
generic generic:4
guard guard:2 guard:3
initial_value initial_value?:1 initial_value?:1 initial_value?:1 binary:3 binary:3 mask:4
initializer initializer?:1 vector:4 vector:3 vector:2
instruction instruction:4 instruction:3 instruction:2 instruction:5 instruction:4 instruction:3
item item?:1 item?:1 item?:1 item?:1 item?:1 directive:2 directive:5 directive:7 directive:5 directive:3 directive:2 linked_variable:2
items items:2 items:0
label label:2
label_name name:1
language language?:1 language?:1
logical_and logical_and?:1 binary:3
logical_or logical_or?:1 binary:3
masked masked?:1 masked?:1 masked?:1 binary:3 binary:3
metadata_field metadata_field?:1 unary:2
metadata_fields vector:4
metadata_header metadata_header:2
metadata_integer integer:1
metadata_line directive:3 directive:2
metadata_lines metadata_lines:2 metadata_lines:0
metadata_string string:1
module module:1
name name:2 name:1 name:1
open open:1
operand operand?:1 operand?:1 operand?:1 element:4 pair:3 pair:3
parameter parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:5 parameter:5 parameter:4 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:7 parameter:7 parameter:6 parameter:6 parameter:6 parameter:5 parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:5 parameter:5 parameter:4 parameter:3 parameter:3 parameter:2 parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:4 parameter:4 parameter:3
parameters parameters:4 parameters:3 parameters:2
plain_name name:1
pointer pointer:2 pointer:3 pointer:2 pointer:1
pragma directive:4 directive:3
primary float:1 integer:1 name:1 parenthesized:3
product product?:1 binary:3 binary:3 binary:3
relation relation?:1 binary:3 binary:3 binary:3 binary:3
section section:3 section:3 section:3
section_header section_header:3
section_integer integer:1 unary:2
section_line section_line?:1 difference:4 directive:2 directive:3 directive:2
section_lines section_lines:2 section_lines:0
section_literal integer:1
shift shift?:1 binary:3 binary:3
single float:1 parenthesized:3
sources_header sources_header:2
statement statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 call_prototype:5 call_prototype:6 call_prototype:5 call_prototype:4 call_prototype:4 call_prototype:5 call_prototype:4 call_prototype:3 directive:5 directive:4 directive:4 directive:4 directive:3 inner_prototype:4 inner_prototype:5 inner_prototype:4 inner_prototype:3 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:6 inner_prototype:7 inner_prototype:6 inner_prototype:5
statements statements:2 statements:0
sum sum?:1 binary:3 binary:3
target directive:3 directive:2
target_label target_label:2 target_label:1
unary unary?:1 cast:4 unary:2 unary:2 unary:2 unary:2
unsized unsized:2
value value?:1 value?:1 binary:3 unary:2 unary:2
variable variable:5 variable:4 variable:3 variable:4 variable:3 variable:2
vector vector:4 vector:3"""

# States, a full stop between two: kinds, and for each the next state, or -1 - the rule to
# reduce; then rules, each with the next state.
STATES = """\
$KPlnWLXhTOQRiJjkI -243  items:1 module:2.$KPlnWLXhTOQRiJjkI -267 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 \
19  __parameter_star_5:20 _specifier:21 alignment:22 attributes:23 function:24 function_header:25 item:26 \
metadata_header:27 pragma:28 section:29 section_header:30 sources_header:31 target:32 variable:33..q 34.tu0w \
35 36 37 38  _name:39.q 40.( 41.tu0w 35 36 37 38  _name:42.q 43.ntu(0w 6 35 36 44 37 38  _name:45 \
attributes:46 parameters:47.lnWXijk 5 6 48 49 15 17 18  __parameter_star_5:20 _specifier:21 alignment:22 \
attributes:23 variable:50.{ 51.r 52.4 53.{ 54.lnijk -61.tu0w 35 36 37 38  _name:55.tu0;w 35 36 37 56 \
38  _name:57 declarator:58.lnijk -62.p 59.lnijk 5 6 15 60 18  _specifier:61 alignment:22 attributes:23.lnijk \
-24.lnijk -59.lnijk -60.$KPlnWLXhTOQRiJjkI -230.{; 62 63  body:64 end:65 open:66.$KPlnWLXhTOQRiJjkI -242.VU} \
-265  metadata_lines:67.$KPlnWLXhTOQRiJjkI -231.$KPlnWLXhTOQRiJjkI -232.tu0}wj4 -361  section_lines:68.S} \
-121  code_blocks:69.$KPlnWLXhTOQRiJjkI -233.$KPlnWLXhTOQRiJjkI -234.$KPlnWLXhTOQRiJjkI \
-235.$KPl@ntY:,zWcab=LXdeuf{<hMN([T-0+Oy})]Q;wRiJZj|kI4 \
-47.$KPl@ntY:,zWcab=LXdeuf{<hMN([T-0+Oy})]Q;wRiJZj|kI4 \
-48.$KPl@ntY:,zWcab=LXdeuf{<hMN([T-0+Oy})]Q;wRiJZj|kI4 \
-49.$KPl@ntY:,zWcab=LXdeuf{<hMN([T-0+Oy})]Q;wRiJZj|kI4 -50., 70.lntu0mwijk -67.4 71  attribute:72.cabf{(O; \
73 74 75 76 -174 44 12 -174  __function_header_star_2:77 entry_directive:78 parameters:79 pragma:80.r \
81.lng)ijk 5 6 82 83 15 84 18  __parameter_star_5:85 _specifier:21 alignment:22 attributes:23 \
parameter:86.def{(; 87 88 89 -178 44 -178  __function_header_star_3:90 func_directive:91 parameters:92.tu(0w \
35 36 44 37 38  _name:93 parameters:94.tu0w 35 36 37 38  _name:95.tu0w 35 36 37 38  _name:96.ntu(0w 6 35 36 \
44 37 38  _name:97 attributes:98 parameters:99.$KPlnWLXhTOQRiJjkI -241.VU} -260.,; 100 \
101  __pragma_star_1:102.{ 103.S} -368.$KPl@ntY,zWLXu{hMNT0Oy}QwRiJZjkI -411 -411 -411 -411 -411 -411 -411 \
-411 104 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 -411 \
-411 -411 -411  __target_star_0:105.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI -431.,=<[; -147 106 107 108 \
-147  __declarator_star_10:109 count:110 dimension:111 unsized:112.,; 113 \
114  __variable_star_8:115.$KPlnWLXhTOQRiJjkI -240.tu0;w 35 36 37 116 38  _name:57 declarator:117.lnijk \
-23.l@ntYzXu{hMN0Oy}wiJZjk -271.$KPlnWLXhTOQRiJjkI -152.$KPlnWLXhTOQRiJjkI -169.$KPlnWLXhTOQRiJjkI \
-170.l@ntYzXu{hMN0Oy}wiJZjk -406  statements:118.VU} 119 120 121  close:122 metadata_line:123.tu0}wj4 35 36 \
37 121 38 124 125  _name:126 _section_type:127 close:128 label:129 section_line:130.S} 131 121  close:132 \
code_block:133.tu0w 35 36 37 38  _name:134.,() -72 135 -72.,) 136 137  __attributes_star_9:138.q 139.cabf{O; \
-157.q 140.qr 141 142  language:143.cabf{O; 73 74 75 76 -171 12 -171  entry_directive:144 pragma:80.cabf{O; \
-14.cabf{O; 73 74 75 76 -173 12 -173  __function_header_star_2:145 entry_directive:78 pragma:80.cabf{O; \
-153.$KPln,WLXhTOQRiJjkI -239 -239 -239 -239 -239 146 -239 -239 -239 -239 -239 -239 -239 -239 -239 -239 -239 \
-239 -239.lnijk 5 6 15 147 18  __parameter_star_5:148 _specifier:21 alignment:22 attributes:23.tcabdeuf{0O;w \
-328.ltu0mw 5 35 36 37 149 38  _name:150 alignment:151 pointer:152.lnijk 5 6 15 153 18  _specifier:61 \
alignment:22 attributes:23.,) 154 155  __parameters_star_4:156.def{; -165.q 157.qr 141 \
142  language:158.def{; 87 88 89 -175 -175  func_directive:159.def{; -16.def{; 87 88 89 -177 \
-177  __function_header_star_3:160 func_directive:91.def{(; 87 88 89 -182 44 \
-182  __function_header_star_3:161 func_directive:91 parameters:162.tu0w 35 36 37 38  _name:163.def{(; 87 88 \
89 -190 44 -190  __function_header_star_3:164 func_directive:91 parameters:165.cabf{(O; 73 74 75 76 -194 44 \
12 -194  __function_header_star_2:166 entry_directive:78 parameters:167 pragma:80.def{(; 87 88 89 -198 44 \
-198  __function_header_star_3:168 func_directive:91 parameters:169.tu(0w 35 36 44 37 38  _name:170 \
parameters:171.tu0w 35 36 37 38  _name:172.r 173.$KPl@ntYzWcabLXuf{hMNT0Oy}Q;wRiJZjkI -335.,; 174 \
175.tu0}wj4 -352.tu0w 35 36 37 38  _name:176.$KPl@ntY,zWLXu{hMNT0Oy}QwRiJZjkI -410 -410 -410 -410 -410 -410 \
-410 -410 177 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 -410 \
-410 -410 -410 -410.!tpuq{(-0+yow~s 178 35 179 180 181 182 183 184 37 185 186 187 38 188 189  _name:190 \
bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:195 equality:196 expression:197 generic:198 \
initial_value:199 initializer:200 logical_and:201 logical_or:202 name:203 primary:204 product:205 \
relation:206 shift:207 single:208 sum:209 unary:210.qs 211 212.q]s 213 214 215.,=[; -133 216 217 \
-133  dimension:218.,=[; -141 219 108 -141  __declarator_star_10:220 dimension:111 unsized:221.,=[; -10.,=[; \
-145 222 217 -145  __declarator_star_10:223 dimension:111.tu0w 35 36 37 38  _name:57 \
declarator:224.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI -430.,; 225 226.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI -428.,; 113 \
227  __variable_star_8:228.l@ntYzXu{hMN0Oy}wiJZjk 5 229 6 230 231 232 233 36 62 234 235 236 237 12 238 121 \
38 15 16 239 17 18  __parameter_star_5:20 _name:126 _opcode:240 _specifier:21 alignment:22 attributes:23 \
body:241 call:242 close:243 guard:244 instruction:245 label:246 open:66 pragma:247 statement:248 target:249 \
variable:250.q 251.q 252.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI -118.$KPlnWLXhTOQRiJjkI -349.VU} -264.tuq-0w4 \
-57.tuq-0w4 -58.: 253.tuq-0w4 35 36 254 255 37 38 256  _name:257 debug_name:258 debug_symbol:259 \
label_name:260 section_integer:261.$KPlnWLXhTOQRiJjkI -350.tu0}wj4 -355.tu0}wj4 -360.{ \
262.$KPlnWLXhTOQRiJjkI -351.S} -120.; 263.q 264.4 71  attribute:265.lntu(0wijk -74.,) 266 267.,cabf{O; 268 \
-156 -156 -156 -156 -156 -156 -156.cabf{O; -158.,cabdef{O; -246.,cabdef{O; -247.,cabf{O; 269 -160 -160 -160 \
-160 -160 -160 -160  __entry_directive_star_6:270.cabf{O; -13.cabf{O; 73 74 75 76 -172 12 \
-172  entry_directive:144 pragma:80.q 271.ltu0mw 5 35 36 37 149 38  _name:272 alignment:273 \
pointer:274.lnijk 5 6 15 275 18  _specifier:61 alignment:22 attributes:23.ltu0wi 5 -333 -333 -333 -333 \
276  alignment:277.,[) -316 108 -316  dimension:278 unsized:279.tu0mw 35 36 37 149 38  _name:280 \
pointer:281.tu0w 35 36 37 38  _name:282.ltu0mw 5 35 36 37 149 38  _name:283 alignment:284 pointer:285.lngijk \
5 6 82 15 84 18  __parameter_star_5:85 _specifier:21 alignment:22 attributes:23 parameter:286.tcabdeuf{0O;w \
-327.,) 287 288.def{; -166.,def{; 269 -168 -168 -168 -168 -168  __entry_directive_star_6:289.def{; -15.def{; \
87 88 89 -176 -176  func_directive:159.def{; 87 88 89 -179 -179  func_directive:159.def{; 87 88 89 -181 \
-181  __function_header_star_3:290 func_directive:91.def{(; 87 88 89 -186 44 \
-186  __function_header_star_3:291 func_directive:91 parameters:292.def{; 87 88 89 -187 \
-187  func_directive:159.def{; 87 88 89 -189 -189  __function_header_star_3:293 func_directive:91.cabf{O; 73 \
74 75 76 -191 12 -191  entry_directive:144 pragma:80.cabf{O; 73 74 75 76 -193 12 \
-193  __function_header_star_2:294 entry_directive:78 pragma:80.def{; 87 88 89 -195 \
-195  func_directive:159.def{; 87 88 89 -197 -197  __function_header_star_3:295 func_directive:91.def{(; 87 \
88 89 -202 44 -202  __function_header_star_3:296 func_directive:91 parameters:297.tu0w 35 36 37 \
38  _name:298.def{(; 87 88 89 -210 44 -210  __function_header_star_3:299 func_directive:91 parameters:300.,; \
-28.r 301.$KPl@ntYzWcabLXuf{hMNT0Oy}Q;wRiJZjkI -334.$KPl@ntY,zWLXu{hMNT0Oy}QwRiJZjkI -34.tu0w 35 36 37 \
38  _name:302.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 unary:305.&^:,<->%+?})];/*|HBEADFCG \
-336.,=(+});4 -48 -48 306 -48 -48 -48 -48 -48.&^,<(->%+?};/*|HBEADFCG -337 -337 -337 -337 307 -337 -337 -337 \
-337 -337 -337 -337 -337 -337 -337 -337 -337 -337 -337 -337 -337 -337 -337.!tpuq{(-0+y}ow~s 178 35 179 180 \
181 182 183 184 37 185 186 308 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 \
constant:195 element:309 equality:196 expression:197 generic:198 initial_value:199 initializer:310 \
logical_and:201 logical_or:202 name:311 primary:204 product:205 relation:206 shift:207 single:208 sum:209 \
unary:210.!pq(-+o~js 178 179 303 183 184 185 187 188 312 189  bit_and:191 bit_or:192 bit_xor:193 \
conditional:194 equality:196 expression:313 logical_and:201 logical_or:202 primary:204 product:205 \
relation:206 shift:207 single:314 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 \
unary:315.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 unary:316.,=[+})];| -270.,}); -366.!pq(-+~s \
178 179 303 304 184 185 188 189  primary:204 unary:317.&^:,<->%+?})];/*|HBEADFCG -338.,=[+})];|4 -269 -269 \
-269 -269 -269 -269 -269 -269 -269 318.&^:,?})];|HB 319 -83 -83 -83 -83 -83 -83 -83 -83 -83 -83 \
-83.:,?})];|HB -248 -248 -248 -248 -248 -248 -248 320 -248 -248.^:,?})];|HB 321 -81 -81 -81 -81 -81 -81 -81 \
-81 -81 -81.:,})]; -164.,}; -214.&^:,?})];|HBEA -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 322 323.,}); \
-124.,+}; -215 324 -215 -215.,}; -220.,; -146.:,?})];HB -250 -250 -250 -250 -250 -250 -250 -250 325.:,?})];H \
-122 -122 326 -122 -122 -122 -122 327.,+}; -216 328 -216 -216.&^:,<->%+?})];/*|HBEADFCG \
-414.&^:,<->%+?})];/*|HBEADFCG -407 -407 -407 -407 -407 -407 -407 329 -407 -407 -407 -407 -407 -407 330 331 \
-407 -407 -407 -407 -407 -407 -407 -407 -407.&^:,<>?})];|HBEADF -161 -161 -161 -161 332 333 -161 -161 -161 \
-161 -161 -161 -161 -161 -161 -161 334 335.&^:,<>?})];|HBEADFCG -344 -344 -344 -344 -344 -344 -344 -344 -344 \
-344 -344 -344 -344 -344 -344 -344 -344 -344 336 337.,}); -125.&^:,<->+?})];|HBEADFCG -363 -363 -363 -363 \
-363 338 -363 339 -363 -363 -363 -363 -363 -363 -363 -363 -363 -363 -363 -363 -363 \
-363.&^:,<->%+?})];/*|HBEADFCG -340.> 340.> 341.] 342.,=[); -420.] 343.!tpuq{(-0+yow~s 178 35 179 180 181 \
182 183 184 37 185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 \
constant:195 equality:196 expression:197 generic:198 initial_value:199 initializer:344 logical_and:201 \
logical_or:202 name:203 primary:204 product:205 relation:206 shift:207 single:208 sum:209 unary:210.qs 213 \
215.,=[; -9.!tpuq{(-0+yow~s 178 35 179 180 181 182 183 184 37 185 186 187 38 188 189  _name:190 bit_and:191 \
bit_or:192 bit_xor:193 conditional:194 constant:195 equality:196 expression:197 generic:198 \
initial_value:199 initializer:345 logical_and:201 logical_or:202 name:203 primary:204 product:205 \
relation:206 shift:207 single:208 sum:209 unary:210.,=[; -135 346 217 -135  dimension:218.,=[; -139 347 217 \
-139  __declarator_star_10:348 dimension:111.!tpuq{(-0+yow~s 178 35 179 180 181 182 183 184 37 185 186 187 \
38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:195 equality:196 \
expression:197 generic:198 initial_value:199 initializer:349 logical_and:201 logical_or:202 name:203 \
primary:204 product:205 relation:206 shift:207 single:208 sum:209 unary:210.,=[; -143 350 217 \
-143  dimension:218.,; -36.tu0w 35 36 37 38  _name:57 declarator:351.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI \
-429.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI -427.,; 225 352.!tu0w 353 35 36 37 38  _name:354.t:uh(0ywijk4 35 -47 36 \
355 356 37 186 38 357 358 359 360  ___opcode_star_15:361 _modifier:362 _name:190 arguments:363 name:364.(w \
44 365  parameters:366.!tpuq{h([-0+y;owi~jks4 -52 -52 -52 -52 -52 -52 355 -52 -52 -52 -52 -52 -52 -52 -52 \
-52 357 -52 358 359 -52 360  ___opcode_star_15:367 _modifier:362.tu(0w 35 36 44 37 38  _name:368 \
parameters:369.X 370.q 371.q 372.!t:puq{h([-0+y;owi~jks4 -54 -54 -49 -54 -54 -54 -54 355 -54 -54 -54 -54 -54 \
-54 -54 -54 -54 357 -54 358 359 -54 360  ___opcode_star_15:373 _modifier:362.!tpuq{h([-0+y;owi~jks4 -56 -56 \
-56 -56 -56 -56 355 -56 -56 -56 -56 -56 -56 -56 -56 -56 357 -56 358 359 -56 360  ___opcode_star_15:374 \
_modifier:362.tu0w 35 36 37 38  _name:375 target_label:376.!tpuq{([-0+y;ow~s 377 35 179 36 303 378 183 379 \
380 37 185 186 381 187 38 188 189  _name:190 address:382 bit_and:191 bit_or:192 bit_xor:193 conditional:194 \
constant:383 equality:196 expression:197 logical_and:201 logical_or:202 name:384 operand:385 primary:204 \
product:205 relation:206 shift:207 single:208 sum:209 unary:210 value:386 vector:387.l@ntYzXu{hMN0Oy}wiJZjk \
-369.l@ntYzXu{hMN0Oy}wiJZjk -370.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI -85.tz0y 388 232 389 \
238  _opcode:390.l@ntYzXu{hMN0Oy}wiJZjk -371.l@ntYzXu{hMN0Oy}wiJZjk -372.l@ntYzXu{hMN0Oy}wiJZjk \
-373.l@ntYzXu{hMN0Oy}wiJZjk -405.l@ntYzXu{hMN0Oy}wiJZjk -374.l@ntYzXu{hMN0Oy}wiJZjk -375.{ \
391  metadata_fields:392.VU} -263.l@ntYzXu{hMN0Oy}wiJZjk4 -244.t,u0}wj4 -353.q \
393  section_literal:394.t,u0+}wj4 -129.tu-0+}wj4 -128 -128 -245 -128 -128 -128 -128 -128 -128.t,u0+}wj4 \
-130 -130 -130 -130 395 -130 -130 -130 -130.tu0}wj4 -357.- 396.t,u0}wj4 -359 397 -359 -359 -359 -359 -359 \
-359  __section_line_star_12:398.1 399.$KPlnWLXhTOQRiJjkI -236., 400.,) -8.4 71  attribute:401.lntu(0wijk \
-73.q 402.qr 141 142  language:403.,cabf{O; 404 -159 -159 -159 -159 -159 -159 -159.$KPln,WLXhTOQRiJjkI -238 \
-238 -238 -238 -238 405 -238 -238 -238 -238 -238 -238 -238 -238 -238 -238 -238 -238 -238.,[) -304 108 \
-304  dimension:406 unsized:407.tu0mw 35 36 37 149 38  _name:408 pointer:409.tu0w 35 36 37 \
38  _name:410.ltu0mw 5 35 36 37 149 38  _name:411 alignment:412 pointer:413.ltu0w 5 -332 -332 -332 \
-332  alignment:414.tu0w -330.,) -314.,) -315.,[) -319 108 -319  dimension:415 unsized:416.tu0w 35 36 37 \
38  _name:417.,[) -325 108 -325  dimension:418 unsized:419.,[) -280 108 -280  dimension:420 \
unsized:421.tu0mw 35 36 37 149 38  _name:422 pointer:423.tu0w 35 36 37 38  _name:424.,) -26.lngijk 5 6 82 15 \
84 18  __parameter_star_5:85 _specifier:21 alignment:22 attributes:23 parameter:425.tcabdeuf{0O;w \
-326.,def{; 404 -167 -167 -167 -167 -167.def{; 87 88 89 -180 -180  func_directive:159.def{; 87 88 89 -183 \
-183  func_directive:159.def{; 87 88 89 -185 -185  __function_header_star_3:426 func_directive:91.def{; 87 \
88 89 -188 -188  func_directive:159.cabf{O; 73 74 75 76 -192 12 -192  entry_directive:144 pragma:80.def{; 87 \
88 89 -196 -196  func_directive:159.def{; 87 88 89 -199 -199  func_directive:159.def{; 87 88 89 -201 \
-201  __function_header_star_3:427 func_directive:91.def{(; 87 88 89 -206 44 \
-206  __function_header_star_3:428 func_directive:91 parameters:429.def{; 87 88 89 -207 \
-207  func_directive:159.def{; 87 88 89 -209 -209  __function_header_star_3:430 func_directive:91.,; \
-27.$KPl@ntY,zWLXu{hMNT0Oy}QwRiJZjkI -33.&^:,<->%+?})];/*|HBEADFCG -337.!pq(-+~js 178 179 303 304 184 185 \
188 312 189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:313 logical_and:201 \
logical_or:202 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.&^:,<->%+?})];/*|HBEADFCG \
-416.tu0yw 35 36 37 186 38  _name:190 name:431.!tpuq(-0+yw~s 178 35 179 180 303 304 184 37 185 186 38 188 \
189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:432 generic:433 \
logical_and:201 logical_or:202 masked:434 name:435 primary:204 product:205 relation:206 shift:207 sum:209 \
unary:210.,}; -223.,} 436 437  __initializer_star_11:438.,} -150.,=+} -216 439 328 -216.) 440.) 441.) \
442.&^:,<->%+?})];/*|HBEADFCG -417.&^:,<->%+?})];/*|HBEADFCG -418.&^:,<->%+?})];/*|HBEADFCG -419.,=[+})];| \
-268.!pq(-+~s 178 179 303 304 184 185 188 189  equality:443 primary:204 product:205 relation:206 shift:207 \
sum:209 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  bit_and:191 bit_xor:444 equality:196 primary:204 \
product:205 relation:206 shift:207 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  bit_and:445 \
equality:196 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 \
185 188 189  primary:204 product:205 relation:446 shift:207 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 \
185 188 189  primary:204 product:205 relation:447 shift:207 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 \
185 188 189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:448 logical_and:201 \
logical_or:202 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 \
185 188 189  bit_and:191 bit_or:449 bit_xor:193 equality:196 primary:204 product:205 relation:206 shift:207 \
sum:209 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  bit_and:191 bit_or:192 bit_xor:193 \
conditional:194 equality:196 expression:450 logical_and:201 logical_or:202 primary:204 product:205 \
relation:206 shift:207 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  bit_and:191 bit_or:192 \
bit_xor:193 equality:196 logical_and:451 primary:204 product:205 relation:206 shift:207 sum:209 \
unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 \
equality:196 expression:452 logical_and:201 logical_or:202 primary:204 product:205 relation:206 shift:207 \
sum:209 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 unary:453.!pq(-+~s 178 179 303 304 \
184 185 188 189  primary:204 unary:454.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 \
unary:455.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 product:205 shift:456 sum:209 \
unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 product:205 shift:457 sum:209 \
unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 product:205 shift:458 sum:209 \
unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 product:205 shift:459 sum:209 \
unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 product:205 sum:460 unary:210.!pq(-+~s 178 \
179 303 304 184 185 188 189  primary:204 product:205 sum:461 unary:210.!pq(-+~s 178 179 303 304 184 185 188 \
189  primary:204 product:462 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 product:463 \
unary:210.,=[; -126.,=[; -127.,=[); -148.,=[); -149.,; -132.,; -140.!tpuq{(-0+yow~s 178 35 179 180 181 182 \
183 184 37 185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:195 \
equality:196 expression:197 generic:198 initial_value:199 initializer:464 logical_and:201 logical_or:202 \
name:203 primary:204 product:205 relation:206 shift:207 single:208 sum:209 unary:210.!tpuq{(-0+yow~s 178 35 \
179 180 181 182 183 184 37 185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 \
conditional:194 constant:195 equality:196 expression:197 generic:198 initial_value:199 initializer:465 \
logical_and:201 logical_or:202 name:203 primary:204 product:205 relation:206 shift:207 single:208 sum:209 \
unary:210.,=[; -137 466 217 -137  dimension:218.,; -144.!tpuq{(-0+yow~s 178 35 179 180 181 182 183 184 37 \
185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:195 \
equality:196 expression:197 generic:198 initial_value:199 initializer:467 logical_and:201 logical_or:202 \
name:203 primary:204 product:205 relation:206 shift:207 single:208 sum:209 unary:210.,; \
-35.$KPl@ntYzWLXu{hMNT0Oy}QwRiJZjkI -426.tu0w 35 36 37 38  _name:468.tz0y -212.!tpuq{h([-0+y;owi~jks4 \
-42.!tpuq{([-0+y)ow~s 377 35 179 36 303 378 183 379 380 37 185 186 469 187 38 188 189  _name:190 address:382 \
bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:383 equality:196 expression:197 logical_and:201 \
logical_or:202 name:384 operand:470 primary:204 product:205 relation:206 shift:207 single:208 sum:209 \
unary:210 value:386 vector:387.!tpuq{h([-0+y;owi~jks4 -43.!tpuq{h([-0+y;owi~jks4 -44.!tpuq{h([-0+y;owi~jks4 \
-45.!tpuq{h([-0+y;owi~jks4 -46.tuh(0ywijk4 35 36 355 356 37 186 38 357 358 359 360  _modifier:471 _name:190 \
arguments:472 name:473.!tpuq{h([-0+y;owi~jks4 -2., 474.,; 475 476.def(; 87 88 89 44 \
477  __function_header_star_3:478 func_directive:91 parameters:479.w 480.!tpuq{h([-0+y;owi~jks4 -51 -51 -51 \
-51 -51 -51 355 -51 -51 -51 -51 -51 -51 -51 -51 -51 357 -51 358 359 -51 360  _modifier:471.def(; 87 88 89 44 \
481  __function_header_star_3:482 func_directive:91 parameters:483.tu0w 35 36 37 38  _name:484.tu(0w 35 36 \
44 37 38  _name:485 parameters:486.q 487.q 488.!tpuq{h([-0+y;owi~jks4 -53 -53 -53 -53 -53 -53 355 -53 -53 \
-53 -53 -53 -53 -53 -53 -53 357 -53 358 359 -53 360  _modifier:471.!tpuq{h([-0+y;owi~jks4 -55 -55 -55 -55 \
-55 -55 355 -55 -55 -55 -55 -55 -55 -55 -55 -55 357 -55 358 359 -55 360  _modifier:471.,<; -413 107 \
-413  count:489.,; 490 491  __statement_star_7:492.!tpuq(-0+yw~s 178 35 179 36 303 304 184 37 185 186 38 188 \
189  _name:190 name:493 primary:204 unary:305.!tpuq(-0+yow~s 377 35 179 36 303 183 380 37 185 186 187 38 188 \
189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:383 equality:196 expression:197 \
logical_and:201 logical_or:202 name:494 primary:204 product:205 relation:206 shift:207 single:208 sum:209 \
unary:210 value:495.!tpuq(-0+w~s 178 35 179 36 303 304 184 37 185 38 188 189  _name:496 base:497 bit_and:191 \
bit_or:192 bit_xor:193 conditional:194 equality:196 expression:498 logical_and:201 logical_or:202 \
plain_name:499 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.!tpuq(-0+yw~s 178 35 179 36 \
303 304 184 37 185 186 38 188 189  _name:190 name:500 primary:204 unary:315.l@ntYzXu{hMN0Oy}wiJZjk -226.,); \
-272.,}); -421.,[+);| -422 501 502 -422 -422 503.,; 504 505  __instruction_star_14:506.,); -273.,);| -274 \
-274 -274 507.tuh(0ywijk4 35 36 355 356 37 186 38 357 358 359 360  ___opcode_star_15:508 _modifier:362 \
_name:190 arguments:509 name:510.!tpuq{h([-0+y;owi~jks4 -54 -54 -54 -54 -54 -54 355 -54 -54 -54 -54 -54 -54 \
-54 -54 -54 357 -54 358 359 -54 360  ___opcode_star_15:373 _modifier:362.!tpuq{([-0+y;ow~s 377 35 179 36 303 \
378 183 379 380 37 185 186 511 187 38 188 189  _name:190 address:382 bit_and:191 bit_or:192 bit_xor:193 \
conditional:194 constant:383 equality:196 expression:197 logical_and:201 logical_or:202 name:384 operand:512 \
primary:204 product:205 relation:206 shift:207 single:208 sum:209 unary:210 value:386 vector:387.r \
513  metadata_string:514.VU} -262.t,u0}wj4 -362.t,u0}wj4 -354.q- 254 255  section_integer:515.tu0w 35 36 37 \
38  _name:516 label_name:517.q- 254 255  section_integer:518.t,u0}wj4 -358 519 -358 -358 -358 -358 -358 \
-358.r 520.q 521.,) -7.,cabf{O; 522 -155 -155 -155 -155 -155 -155 -155.,cabdef{O; -12.qr 141 \
142  language:523.q 524.,) -302.,) -303.,[) -307 108 -307  dimension:525 unsized:526.tu0w 35 36 37 \
38  _name:527.,[) -313 108 -313  dimension:528 unsized:529.,[) -292 108 -292  dimension:530 \
unsized:531.tu0mw 35 36 37 149 38  _name:532 pointer:533.tu0w 35 36 37 38  _name:534.tu0w -331.,) -317.,) \
-318.,[) -322 108 -322  dimension:535 unsized:536.,) -323.,) -324.,) -278.,) -279.,[) -283 108 \
-283  dimension:537 unsized:538.tu0w 35 36 37 38  _name:539.,[) -289 108 -289  dimension:540 unsized:541.,) \
-25.def{; 87 88 89 -184 -184  func_directive:159.def{; 87 88 89 -200 -200  func_directive:159.def{; 87 88 89 \
-203 -203  func_directive:159.def{; 87 88 89 -205 -205  __function_header_star_3:542 func_directive:91.def{; \
87 88 89 -208 -208  func_directive:159.) 543.) -252.+) 544 -253.) 545.+) 546 -254.!tpuq{(-0+yow~s 178 35 179 \
180 181 182 183 184 37 185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 \
constant:195 element:547 equality:196 expression:197 generic:198 initial_value:199 initializer:310 \
logical_and:201 logical_or:202 name:311 primary:204 product:205 relation:206 shift:207 single:208 sum:209 \
unary:210.,}; -222.,} 548 549.!tpuq(-0+yow~s 178 35 179 180 181 183 184 37 185 186 187 38 188 189  _name:190 \
bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:195 equality:196 expression:197 generic:198 \
initial_value:550 logical_and:201 logical_or:202 name:203 primary:204 product:205 relation:206 shift:207 \
single:208 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 185 188 189  primary:204 \
unary:551.&^:,<->%+?})];/*|HBEADFCG -339.,}); -367.&^:,?})];|HBEA -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 \
-80 -80 322 323.^:,?})];|HB 321 -82 -82 -82 -82 -82 -82 -82 -82 -82 -82.&^:,?})];|HB 319 -84 -84 -84 -84 -84 \
-84 -84 -84 -84 -84 -84.&^:,<>?})];|HBEADF -162 -162 -162 -162 332 333 -162 -162 -162 -162 -162 -162 -162 \
-162 -162 -162 334 335.&^:,<>?})];|HBEADF -163 -163 -163 -163 332 333 -163 -163 -163 -163 -163 -163 -163 \
-163 -163 -163 334 335.,}; -217.:,?})];|HB -249 -249 -249 -249 -249 -249 -249 320 -249 -249.: 552.:,?})];HB \
-251 -251 -251 -251 -251 -251 -251 -251 325.,}; -218.&^:,<->%+?})];/*|HBEADFCG \
-341.&^:,<->%+?})];/*|HBEADFCG -342.&^:,<->%+?})];/*|HBEADFCG -343.&^:,<>?})];|HBEADFCG -345 -345 -345 -345 \
-345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 -345 336 337.&^:,<>?})];|HBEADFCG -346 -346 \
-346 -346 -346 -346 -346 -346 -346 -346 -346 -346 -346 -346 -346 -346 -346 -346 336 337.&^:,<>?})];|HBEADFCG \
-347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 -347 336 \
337.&^:,<>?})];|HBEADFCG -348 -348 -348 -348 -348 -348 -348 -348 -348 -348 -348 -348 -348 -348 -348 -348 \
-348 -348 336 337.&^:,<->+?})];|HBEADFCG -364 -364 -364 -364 -364 338 -364 339 -364 -364 -364 -364 -364 -364 \
-364 -364 -364 -364 -364 -364 -364 -364.&^:,<->+?})];|HBEADFCG -365 -365 -365 -365 -365 338 -365 339 -365 \
-365 -365 -365 -365 -365 -365 -365 -365 -365 -365 -365 -365 -365.&^:,<->%+?})];/*|HBEADFCG -408 -408 -408 \
-408 -408 -408 -408 329 -408 -408 -408 -408 -408 -408 330 331 -408 -408 -408 -408 -408 -408 -408 -408 \
-408.&^:,<->%+?})];/*|HBEADFCG -409 -409 -409 -409 -409 -409 -409 329 -409 -409 -409 -409 -409 -409 330 331 \
-409 -409 -409 -409 -409 -409 -409 -409 -409.,; -134.,; -138.!tpuq{(-0+yow~s 178 35 179 180 181 182 183 184 \
37 185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:195 \
equality:196 expression:197 generic:198 initial_value:199 initializer:553 logical_and:201 logical_or:202 \
name:203 primary:204 product:205 relation:206 shift:207 single:208 sum:209 unary:210.,; -142.tz0y -213.,; \
-70.,) 504 554  __instruction_star_14:555.!tpuq{h([-0+y;owi~jks4 -1., 556.,; 557 558.tu0yw 35 36 37 186 \
38  _name:190 name:559.tu(0yw 35 36 356 37 186 38  _name:190 arguments:560 name:561.l@ntYzXu{hMN0Oy}wiJZjk \
-117.l@ntYzXu{hMN0Oy}wiJZjk -383.def; 87 88 89 562  func_directive:159.def; 87 88 89 \
563  __function_header_star_3:564 func_directive:91.def(; 87 88 89 44 565  __function_header_star_3:566 \
func_directive:91 parameters:567.l@ntYzXu{hMN0Oy}wiJZjk -392.def; 87 88 89 568  func_directive:159.def; 87 \
88 89 569  __function_header_star_3:570 func_directive:91.def(; 87 88 89 44 \
571  __function_header_star_3:572 func_directive:91 parameters:573.def(; 87 88 89 44 \
574  __function_header_star_3:575 func_directive:91 parameters:576.tu0w 35 36 37 38  _name:577.q 578.q \
579.,; -412.tu0w 35 36 37 38  _name:375 target_label:580.l@ntYzXu{hMN0Oy}wiJZjk -388.,; 581 582.,}); \
-424.,+} -422 502 -422.,} 583 584  __vector_star_16:585.,-+] -329.,] 586 587  __address_star_17:588.,] \
-75.,-+] -76 589 590 -76.,}); -425.!tpuq(-0+yw~s 178 35 179 36 303 304 184 37 185 186 38 188 189  _index:591 \
_name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:592 logical_and:201 \
logical_or:202 name:593 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.!pq(-+~s 178 179 \
303 304 184 185 188 189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:594 \
logical_and:201 logical_or:202 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.tu0yw 35 36 \
37 186 38  _name:190 name:595.!tpuq{([-0+yow~s 377 35 179 36 303 378 183 379 380 37 185 186 187 38 188 \
189  _name:190 address:382 bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:383 equality:196 \
expression:197 logical_and:201 logical_or:202 name:384 operand:596 primary:204 product:205 relation:206 \
shift:207 single:208 sum:209 unary:210 value:386 vector:387.l@ntYzXu{hMN0Oy}wiJZjk -225.,; 597 598.tu0yw 35 \
36 37 186 38  _name:190 name:599.tuh(0ywijk4 35 36 355 356 37 186 38 357 358 359 360  _modifier:471 \
_name:190 arguments:600 name:601., 602.,; 603 604.l@ntYzXu{hMN0Oy}wiJZjk -229.,; 504 \
605  __instruction_star_14:606.,} -266., 607  __metadata_fields_plus_13:608.t,u0}wj4 -131.tu0}wj4 \
-245.tu0}wj4 -356.t,u0}wj4 -30.q- 254 255  section_integer:609.2 610.) 611.q 612.,cabdef{O; \
-11.$KPlnWLXhTOQRiJjkI -237.,) -305.,) -306.,[) -310 108 -310  dimension:613 unsized:614.,) -311.,) -312.,) \
-290.,) -291.,[) -295 108 -295  dimension:615 unsized:616.tu0w 35 36 37 38  _name:617.,[) -301 108 \
-301  dimension:618 unsized:619.,) -320.,) -321.,) -281.,) -282.,[) -286 108 -286  dimension:620 \
unsized:621.,) -287.,) -288.def{; 87 88 89 -204 -204  func_directive:159.,+}); -211.!pq(-+~s 178 179 303 304 \
184 185 188 189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:622 \
logical_and:201 logical_or:202 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.,}; \
-219.!pq(-+~s 178 179 303 304 184 185 188 189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 \
equality:196 expression:623 logical_and:201 logical_or:202 primary:204 product:205 relation:206 shift:207 \
sum:209 unary:210.,} -18.!tpuq{(-0+yow~s 178 35 179 180 181 182 183 184 37 185 186 187 38 188 189  _name:190 \
bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:195 element:624 equality:196 expression:197 \
generic:198 initial_value:199 initializer:310 logical_and:201 logical_or:202 name:311 primary:204 \
product:205 relation:206 shift:207 single:208 sum:209 unary:210.,}; -221.,} -151.&^:,<->%+?})];/*|HBEADFCG \
-415.!pq(-+~s 178 179 303 304 184 185 188 189  bit_and:191 bit_or:192 bit_xor:193 conditional:625 \
equality:196 logical_and:201 logical_or:202 primary:204 product:205 relation:206 shift:207 sum:209 \
unary:210.,; -136.,; -69.,) 597 626.tu0yw 35 36 37 186 38  _name:190 name:627.tu(0yw 35 36 356 37 186 \
38  _name:190 arguments:628 name:629.l@ntYzXu{hMN0Oy}wiJZjk -109.,; 630 631.,; 632 633.; \
634.l@ntYzXu{hMN0Oy}wiJZjk -380.l@ntYzXu{hMN0Oy}wiJZjk -382.def; 87 88 89 \
635  func_directive:159.l@ntYzXu{hMN0Oy}wiJZjk -379.def; 87 88 89 636  func_directive:159.def; 87 88 89 \
637  __function_header_star_3:638 func_directive:91.l@ntYzXu{hMN0Oy}wiJZjk -389.l@ntYzXu{hMN0Oy}wiJZjk \
-391.def; 87 88 89 639  func_directive:159.l@ntYzXu{hMN0Oy}wiJZjk -396.def; 87 88 89 \
640  func_directive:159.def; 87 88 89 641  __function_header_star_3:642 \
func_directive:91.l@ntYzXu{hMN0Oy}wiJZjk -400.def; 87 88 89 643  func_directive:159.def; 87 88 89 \
644  __function_header_star_3:645 func_directive:91.def(; 87 88 89 44 646  __function_header_star_3:647 \
func_directive:91 parameters:648.l@ntY,zXu{hMN0Oy}wiJZjk -385 -385 -385 -385 -385 649 -385 -385 -385 -385 \
-385 -385 -385 -385 -385 -385 -385 -385 -385 -385 -385 -385 -385  _inlined:650.l@ntYzXu{hMN0Oy}wiJZjk \
-386.,; -32.tu0w 35 36 37 38  _name:375 target_label:651.l@ntYzXu{hMN0Oy}wiJZjk -387.!tpuq(-0+yow~s 377 35 \
179 36 303 183 380 37 185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 bit_xor:193 conditional:194 \
constant:383 equality:196 expression:197 logical_and:201 logical_or:202 name:494 primary:204 product:205 \
relation:206 shift:207 single:208 sum:209 unary:210 value:652.,)];| -433.,} 653 654.tu{0yw 35 36 378 37 186 \
38  _name:190 name:655 vector:656.,);4 -66 -66 -66 657.,] 658 659.!pq(-+~s 178 179 303 304 184 185 188 \
189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:660 logical_and:201 \
logical_or:202 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.!pq(-+~s 178 179 303 304 184 \
185 188 189  bit_and:191 bit_or:192 bit_xor:193 conditional:194 equality:196 expression:661 logical_and:201 \
logical_or:202 primary:204 product:205 relation:206 shift:207 sum:209 unary:210.] 662.] -39.] -40.,}); \
-423.,); -276.,); -20.!tpuq{([-0+yow~s 377 35 179 36 303 378 183 379 380 37 185 186 187 38 188 \
189  _name:190 address:382 bit_and:191 bit_or:192 bit_xor:193 conditional:194 constant:383 equality:196 \
expression:197 logical_and:201 logical_or:202 name:384 operand:663 primary:204 product:205 relation:206 \
shift:207 single:208 sum:209 unary:210 value:386 vector:387.l@ntYzXu{hMN0Oy}wiJZjk -224.,); -277., 664.,; \
665 666.tu0yw 35 36 37 186 38  _name:190 name:667.tu(0yw 35 36 356 37 186 38  _name:190 arguments:668 \
name:669.l@ntYzXu{hMN0Oy}wiJZjk -101.l@ntYzXu{hMN0Oy}wiJZjk -228.,; 597 670.rj 513 671  metadata_field:672 \
metadata_string:673.,} 674 675.t,u0}wj4 -29.q 676.,) -71.cabf{O; -154.,) -308.,) -309.,) -293.,) -294.,[) \
-298 108 -298  dimension:677 unsized:678.,) -299.,) -300.,) -284.,) -285.) -255.) -256.,} -17.:,})]; -123.,; \
-68.,; 679 680.,; 681 682.; 683.tu(0yw 35 36 356 37 186 38  _name:190 arguments:684 \
name:685.l@ntYzXu{hMN0Oy}wiJZjk -113.tu0yw 35 36 37 186 38  _name:190 name:686.l@ntYzXu{hMN0Oy}wiJZjk \
-115.l@ntYzXu{hMN0Oy}wiJZjk -116.l@ntYzXu{hMN0Oy}wiJZjk -381.l@ntYzXu{hMN0Oy}wiJZjk \
-376.l@ntYzXu{hMN0Oy}wiJZjk -378.def; 87 88 89 687  func_directive:159.l@ntYzXu{hMN0Oy}wiJZjk \
-390.l@ntYzXu{hMN0Oy}wiJZjk -393.l@ntYzXu{hMN0Oy}wiJZjk -395.def; 87 88 89 \
688  func_directive:159.l@ntYzXu{hMN0Oy}wiJZjk -397.l@ntYzXu{hMN0Oy}wiJZjk -399.def; 87 88 89 \
689  func_directive:159.l@ntYzXu{hMN0Oy}wiJZjk -404.def; 87 88 89 690  func_directive:159.def; 87 88 89 \
691  __function_header_star_3:692 func_directive:91.v 693.l@ntYzXu{hMN0Oy}wiJZjk -384.,; -31.,} \
-38.!tpuq(-0+yow~s 377 35 179 36 303 183 380 37 185 186 187 38 188 189  _name:190 bit_and:191 bit_or:192 \
bit_xor:193 conditional:194 constant:383 equality:196 expression:197 logical_and:201 logical_or:202 name:494 \
primary:204 product:205 relation:206 shift:207 single:208 sum:209 unary:210 value:694.,)];| -432.,] -5.,] \
-6.,); -65.tu{0yw 35 36 378 37 186 38  _name:190 name:695 vector:696.,);4 -64 -64 -64 697.,] -77.,] -78.,); \
-275.,); -19.tu0yw 35 36 37 186 38  _name:190 name:698.tu(0yw 35 36 356 37 186 38  _name:190 arguments:699 \
name:700.l@ntYzXu{hMN0Oy}wiJZjk -93.,; 701 702.,; 703 704.; 705.l@ntYzXu{hMN0Oy}wiJZjk -227.q \
706  metadata_integer:707.,} -22.,} -257.rj 513 671  metadata_field:708 metadata_string:673.VU} -259.3 \
709.,) -296.,) -297.tu(0yw 35 36 356 37 186 38  _name:190 arguments:710 name:711.l@ntYzXu{hMN0Oy}wiJZjk \
-105.tu0yw 35 36 37 186 38  _name:190 name:712.l@ntYzXu{hMN0Oy}wiJZjk -107.l@ntYzXu{hMN0Oy}wiJZjk -108.,; \
713 714.; 715.; 716.l@ntYzXu{hMN0Oy}wiJZjk -377.l@ntYzXu{hMN0Oy}wiJZjk -394.l@ntYzXu{hMN0Oy}wiJZjk \
-398.l@ntYzXu{hMN0Oy}wiJZjk -401.l@ntYzXu{hMN0Oy}wiJZjk -403.def; 87 88 89 717  func_directive:159.tu0w4 35 \
36 37 38 256  _name:718 debug_name:258 debug_symbol:719.,} -37.,] -3.,] -4.,); -63.,; 720 721.,; 722 723.; \
724.tu(0yw 35 36 356 37 186 38  _name:190 arguments:725 name:726.l@ntYzXu{hMN0Oy}wiJZjk -97.tu0yw 35 36 37 \
186 38  _name:190 name:727.l@ntYzXu{hMN0Oy}wiJZjk -99.l@ntYzXu{hMN0Oy}wiJZjk -100.,} -261.,} -258.,} -21.} \
728.,; 729 730.; 731.; 732.tu0yw 35 36 37 186 38  _name:190 name:733.l@ntYzXu{hMN0Oy}wiJZjk \
-111.l@ntYzXu{hMN0Oy}wiJZjk -112.l@ntYzXu{hMN0Oy}wiJZjk -114.l@ntYzXu{hMN0Oy}wiJZjk -402.,+ -128., \
734.tu(0yw 35 36 356 37 186 38  _name:190 arguments:735 name:736.l@ntYzXu{hMN0Oy}wiJZjk -89.tu0yw 35 36 37 \
186 38  _name:190 name:737.l@ntYzXu{hMN0Oy}wiJZjk -91.l@ntYzXu{hMN0Oy}wiJZjk -92.,; 738 739.; 740.; 741.S} \
-119.tu0yw 35 36 37 186 38  _name:190 name:742.l@ntYzXu{hMN0Oy}wiJZjk -103.l@ntYzXu{hMN0Oy}wiJZjk \
-104.l@ntYzXu{hMN0Oy}wiJZjk -106.; 743.x 744.,; 745 746.; 747.; 748.tu0yw 35 36 37 186 38  _name:190 \
name:749.l@ntYzXu{hMN0Oy}wiJZjk -95.l@ntYzXu{hMN0Oy}wiJZjk -96.l@ntYzXu{hMN0Oy}wiJZjk -98.; \
750.l@ntYzXu{hMN0Oy}wiJZjk -110.q 751.tu0yw 35 36 37 186 38  _name:190 name:752.l@ntYzXu{hMN0Oy}wiJZjk \
-87.l@ntYzXu{hMN0Oy}wiJZjk -88.l@ntYzXu{hMN0Oy}wiJZjk -90.; 753.l@ntYzXu{hMN0Oy}wiJZjk -102.q 754.; \
755.l@ntYzXu{hMN0Oy}wiJZjk -94.q 756.l@ntYzXu{hMN0Oy}wiJZjk -86.l@ntYzXu{hMN0Oy}wiJZjk -41""".replace(".", "\n")
